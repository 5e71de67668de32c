import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** HTTP on loopback before whoever answers as an API server, with a kubeconfig for it. */
export class HttpFront {
  readonly #server: Server;
  readonly #directory: string;
  readonly #sockets = new Set<Socket>();

  private constructor(server: Server, directory: string) {
    this.#server = server;
    this.#directory = directory;
    server.on('connection', (socket: Socket) => {
      this.#sockets.add(socket);
      socket.on('close', () => this.#sockets.delete(socket));
    });
  }

  static async start(answer: RequestListener): Promise<HttpFront> {
    const server = createServer(answer);
    const front = new HttpFront(server, await mkdtemp(join(tmpdir(), 'http-front-')));
    await new Promise<void>((resolve) => {
      server.listen(0, '127.0.0.1', resolve);
    });
    return front;
  }

  get address(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  get openConnections(): number {
    return this.#sockets.size;
  }

  /** The path of a kubeconfig for it. */
  async kubeconfig(): Promise<string> {
    const path = join(this.#directory, 'kubeconfig');
    await writeFile(path, kubeconfigOf({ server: this.address, 'insecure-skip-tls-verify': true }, { token: 'mine' }));
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
