import { connect, createServer, type Socket } from 'node:net';

/** A connection that carries nothing while it is closed. */
export class Link {
  readonly port: number;
  readonly #sockets = new Set<Socket>();
  readonly #close: () => void;
  #isOpen = true;

  private constructor(port: number, close: () => void) {
    this.port = port;
    this.#close = close;
  }

  static async to(target: number): Promise<Link> {
    let link: Link;
    const server = createServer((near) => link.#carry(near, connect(target, '127.0.0.1')));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const address = server.address();
    link = new Link(address !== null && typeof address === 'object' ? address.port : 0, () => server.close());
    return link;
  }

  #carry(near: Socket, far: Socket): void {
    this.#sockets.add(far).add(near);
    near.on('error', () => far.destroy()).pipe(far);
    far.on('error', () => near.destroy()).pipe(near);
    if (!this.#isOpen) far.unpipe(near).pause();
    far.on('close', () => near.destroy());
  }

  set isOpen(isOpen: boolean) {
    this.#isOpen = isOpen;
    const [far, near] = [...this.#sockets].slice(-2) as [Socket, Socket];
    if (isOpen) far.pipe(near);
    else far.unpipe(near).pause();
  }

  close(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#close();
  }
}
