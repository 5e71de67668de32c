import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener, type Server } from 'node:http';
import { Server as TlsServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** HTTP on loopback before whoever answers as an API server, with a directory for kubeconfigs of it. */
export class HttpFront {
  readonly server: Server | TlsServer;
  readonly sockets = new Set<Socket>();
  #directory = '';

  constructor(server: Server | TlsServer) {
    this.server = server;
    server.on('connection', (socket: Socket) => {
      this.sockets.add(socket);
      socket.on('close', () => this.sockets.delete(socket));
    });
  }

  /** Its answers have no `Date`: the time of this machine is not that of a test. */
  static start(answer: RequestListener): Promise<HttpFront> {
    const undated: RequestListener = (request, response) => {
      response.sendDate = false;
      answer(request, response);
    };
    return new HttpFront(createServer(undated)).open();
  }

  async open(): Promise<this> {
    this.#directory = await mkdtemp(join(tmpdir(), 'http-front-'));
    await new Promise<void>((resolve) => {
      this.server.listen(0, '127.0.0.1', resolve);
    });
    return this;
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  get address(): string {
    return `${this.server instanceof TlsServer ? 'https' : 'http'}://127.0.0.1:${this.port}`;
  }

  get directory(): string {
    return this.#directory;
  }

  async write(name: string, text: string): Promise<string> {
    const path = join(this.#directory, name);
    await writeFile(path, text, { mode: 0o755 });
    return path;
  }

  /** The path of a kubeconfig for it. By HTTPS its CA is in `ca.crt` beside it. */
  kubeconfig(user: object = { token: 'mine' }, cluster: object = {}): Promise<string> {
    const isTls = this.server instanceof TlsServer;
    const trust = isTls ? { 'certificate-authority': 'ca.crt' } : { 'insecure-skip-tls-verify': true };
    return this.write('kubeconfig', kubeconfigOf({ server: this.address, ...trust, ...cluster }, user));
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => {
      this.server.close(resolve);
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
