import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import { type AddressInfo, connect, createServer, type Server } from 'node:net';
import { Connections } from './connections.ts';

/** Stands between a client and the API server, byte for byte, until told to cut. */
export class CuttingProxy {
  readonly connections = new Connections();
  readonly #server: Server;
  #accepted = 0;

  private constructor(targetPort: number) {
    this.#server = createServer((client) => {
      if (!this.connections.accept(client)) return;
      this.#accepted += 1;
      const onward = connect(targetPort, '127.0.0.1');
      this.connections.keep(onward);
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

  /** The path of a kubeconfig that is as another one, but goes through here. */
  async kubeconfig(path: string): Promise<string> {
    const through = `${path}.cut`;
    const text = await readFile(path, 'utf8');
    await writeFile(through, text.replaceAll(/https:\/\/127\.0\.0\.1:\d+/g, this.address));
    return through;
  }

  async close(): Promise<void> {
    this.connections.cut();
    this.#server.close();
    await once(this.#server, 'close');
  }
}
