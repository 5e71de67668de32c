import { createServer as createHttpServer, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/** A SOCKS 5 request for an IPv4 address, without authentication (RFC 1928). */
const socks = { version: 5, noAuthentication: 0, refused: 5, addressBytes: 10, ipv4: 1, name: 3 };

/** Connects a client, by `CONNECT` or by SOCKS 5, to the address that it requests. */
export class FakeProxy {
  /** Where clients wanted to go, as `host:port`. */
  readonly targets: string[] = [];
  refuses = false;
  /** The addresses of names that only the proxy knows. */
  readonly names: Record<string, string> = {};
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();

  private constructor(kind: 'http' | 'socks5') {
    if (kind === 'http') {
      const server = createHttpServer();
      server.on('connect', (request: IncomingMessage, client: Socket) => {
        const [host = '', port = ''] = request.url?.split(':') ?? [];
        this.#bring(client, host, Number(port), (refused) =>
          refused ? 'HTTP/1.1 403 Forbidden\r\n\r\n' : 'HTTP/1.1 200 Connection established\r\n\r\n',
        );
      });
      this.#server = server;
    } else {
      this.#server = createServer((client) => void this.#socks(client));
    }
  }

  static async start(kind: 'http' | 'socks5'): Promise<FakeProxy> {
    const proxy = new FakeProxy(kind);
    await new Promise<void>((resolve) => {
      proxy.#server.listen(0, '127.0.0.1', resolve);
    });
    return proxy;
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port;
  }

  get openConnections(): number {
    return this.#sockets.size;
  }

  async close(): Promise<void> {
    for (const socket of this.#sockets) socket.destroy();
    await new Promise((resolve) => {
      this.#server.close(resolve);
    });
  }

  async #socks(client: Socket): Promise<void> {
    client.on('error', () => {});
    await bytes(client, 2);
    client.write(Uint8Array.of(socks.version, socks.noAuthentication));
    const request = await bytes(client, socks.addressBytes);
    const isName = request[3] === socks.name;
    const nameEnd = 5 + (request[4] ?? 0);
    const host = isName ? request.subarray(5, nameEnd).toString('latin1') : request.subarray(4, 8).join('.');
    const port = request.readUInt16BE(isName ? nameEnd : 8);
    this.#bring(client, host, port, (refused) =>
      Uint8Array.of(socks.version, refused ? socks.refused : 0, 0, socks.ipv4, 0, 0, 0, 0, 0, 0),
    );
  }

  #bring(client: Socket, host: string, port: number, reply: (refused: boolean) => string | Uint8Array): void {
    this.targets.push(`${host}:${port}`);
    this.#know(client);
    if (this.refuses) {
      client.end(reply(true));
      return;
    }
    const onward = connect(port, this.names[host] ?? host, () => {
      client.write(reply(false));
      onward.pipe(client).pipe(onward);
    });
    this.#know(onward);
    client.on('close', () => onward.destroy());
    onward.on('close', () => client.destroy());
  }

  #know(socket: Socket): void {
    this.#sockets.add(socket);
    socket.on('error', () => {});
    socket.on('close', () => this.#sockets.delete(socket));
  }
}

/** What comes next, once it is so many bytes at least. Leaves the socket to others afterwards. */
async function bytes(socket: Socket, count: number): Promise<Buffer> {
  let read = Buffer.alloc(0);
  while (read.length < count) {
    const chunk = await new Promise<Buffer>((resolve) => {
      socket.once('data', resolve);
      socket.resume();
    });
    read = Buffer.concat([read, chunk]);
  }
  socket.pause();
  return read;
}
