import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer, Server as TlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LoopbackCertificate } from '../control-plane/certificates.ts';

/** HTTP on loopback before whoever answers as an API server, with a kubeconfig for it. */
export class HttpFront {
  readonly #server: Server | TlsServer;
  readonly #directory: string;
  readonly #sockets = new Set<Socket>();

  private constructor(server: Server | TlsServer, directory: string) {
    this.#server = server;
    this.#directory = directory;
    server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
    });
  }

  /** By plain HTTP, unless a certificate is given. */
  static async start(answer: RequestListener, certificate?: LoopbackCertificate): Promise<HttpFront> {
    const server = certificate
      ? createTlsServer({ cert: certificate.certificate, key: certificate.key }, answer)
      : createServer(answer);
    const front = new HttpFront(server, await mkdtemp(join(tmpdir(), 'http-front-')));
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    await front.trust(certificate);
    return front;
  }

  get address(): string {
    const scheme = this.#server instanceof TlsServer ? 'https' : 'http';
    return `${scheme}://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get openConnections(): number {
    return this.#sockets.size;
  }

  get tokenFile(): string {
    return join(this.#directory, 'token');
  }

  /** What its clients find in the file of the authority that they are to trust. */
  async trust(certificate: LoopbackCertificate | undefined): Promise<void> {
    await writeFile(join(this.#directory, 'ca.crt'), certificate?.certificate ?? '');
  }

  /** For connections made from now on; those that are open end. */
  useCertificate({ certificate: cert, key }: LoopbackCertificate): void {
    if (!(this.#server instanceof TlsServer)) throw new Error('expected a server that was started with a certificate');
    this.#server.setSecureContext({ cert, key });
    for (const socket of this.#sockets) socket.destroy();
  }

  /** The path of a kubeconfig for it, whose token is in a file. */
  async kubeconfig(): Promise<string> {
    const path = join(this.#directory, 'kubeconfig');
    const trust =
      this.#server instanceof TlsServer ? { 'certificate-authority': 'ca.crt' } : { 'insecure-skip-tls-verify': true };
    await writeFile(this.tokenFile, 'old\n');
    await writeFile(path, kubeconfigOf({ server: this.address, ...trust }, { tokenFile: 'token' }));
    return path;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => {
      this.#server.close(resolve);
    });
    await rm(this.#directory, { recursive: true });
  }
}

/** A kubeconfig of one cluster and one user, in its own words. */
export function kubeconfigOf(cluster: object, user: object): string {
  return JSON.stringify({
    clusters: [{ name: 'fake', cluster }],
    users: [{ name: 'me', user }],
    contexts: [{ name: 'here', context: { cluster: 'fake', user: 'me' } }],
    'current-context': 'here',
  });
}
