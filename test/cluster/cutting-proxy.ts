import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** Stands between a client and the API server, byte for byte, until told to cut. */
export class CuttingProxy {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #isOpen = true;
  #accepted = 0;

  private constructor(targetPort: number) {
    this.#server = createServer((client) => {
      this.#keep(client);
      if (!this.#isOpen) {
        client.resetAndDestroy();
        return;
      }
      this.#accepted += 1;
      const onward = connect(targetPort, '127.0.0.1');
      this.#keep(onward);
      client.pipe(onward).pipe(client);
      client.on('close', () => onward.destroy());
      onward.on('close', () => client.destroy());
    });
  }

  /** Towards the server of a kubeconfig. */
  static async start(server: string): Promise<CuttingProxy> {
    const proxy = new CuttingProxy(Number(new URL(server).port));
    proxy.#server.listen(0, '127.0.0.1');
    await once(proxy.#server, 'listening');
    return proxy;
  }

  get address(): string {
    return `https://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Connections that came through since the start. */
  get accepted(): number {
    return this.#accepted;
  }

  get openConnections(): number {
    return this.#sockets.size;
  }

  /** The path of a kubeconfig that is as another one, but goes through here. */
  async kubeconfig(path: string): Promise<string> {
    const through = `${path}.cut`;
    const text = await readFile(path, 'utf8');
    await writeFile(through, text.replaceAll(/https:\/\/127\.0\.0\.1:\d+/g, this.address));
    return through;
  }

  /** Every connection breaks, in the middle of whatever it carries. New ones come through. */
  cut(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  /** As `cut`, and nobody comes through before `mend`. */
  sever(): void {
    this.#isOpen = false;
    this.cut();
  }

  mend(): void {
    this.#isOpen = true;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket);
    // Whoever cuts a connection doesn't want to hear of it.
    socket.on('error', () => {});
    socket.on('close', () => this.#sockets.delete(socket));
  }
}
