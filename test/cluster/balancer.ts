import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** What a Service is to its endpoints: each connection leads to the next of those that listen. */
export class Balancer {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #targets: readonly number[] = [];
  #accepted = 0;

  private constructor() {
    this.#server = createServer((client) => {
      const target = this.#targets[this.#accepted % this.#targets.length];
      this.#accepted += 1;
      this.#keep(client);
      if (target === undefined) {
        client.resetAndDestroy();
        return;
      }
      const onward = connect(target, '127.0.0.1');
      this.#keep(onward);
      client.pipe(onward).pipe(client);
      client.on('close', () => onward.destroy());
      onward.on('close', () => client.destroy());
    });
  }

  static async start(): Promise<Balancer> {
    const balancer = new Balancer();
    balancer.#server.listen(0, '127.0.0.1');
    await once(balancer.#server, 'listening');
    return balancer;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  /** Connections since the start. */
  get accepted(): number {
    return this.#accepted;
  }

  /** Ports on loopback, in turns. Connections that are open end. */
  leadTo(ports: readonly number[]): void {
    this.#targets = ports;
    this.endConnections();
  }

  /** What comes next needs a connection of its own. */
  endConnections(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  async close(): Promise<void> {
    this.endConnections();
    this.#server.close();
    await once(this.#server, 'close');
  }

  #keep(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => this.#sockets.delete(socket));
  }
}
