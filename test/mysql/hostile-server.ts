import { createServer, type Server, type Socket } from 'node:net';

/** A server on loopback that is no mysqld, and the connections that it had. */
export class HostileServer {
  readonly port: number;
  readonly sockets: Socket[];
  readonly #server: Server;

  private constructor(server: Server, sockets: Socket[]) {
    const address = server.address();
    if (address === null || typeof address === 'string') throw new Error('expected a port');
    this.port = address.port;
    this.#server = server;
    this.sockets = sockets;
  }

  /** At any free port of 127.0.0.1, if no other place is given. */
  static async open(
    serve: (socket: Socket) => void,
    { host = '127.0.0.1', port = 0 }: { readonly host?: string; readonly port?: number } = {},
  ): Promise<HostileServer> {
    const sockets: Socket[] = [];
    const server = createServer((socket) => {
      sockets.push(socket);
      socket.on('error', () => undefined);
      serve(socket);
    });
    await new Promise<void>((resolve) => server.listen(port, host, resolve));
    return new HostileServer(server, sockets);
  }

  async close(): Promise<void> {
    for (const socket of this.sockets) socket.destroy();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

export function packet(sequence: number, payload: Buffer, length = payload.length): Buffer {
  const header = Buffer.from([length & 255, (length >> 8) & 255, (length >> 16) & 255, sequence & 255]);
  return Buffer.concat([header, payload]);
}

const protocol41 = 0x200;
const secureConnection = 0x8000;
const pluginAuth = 0x80000;
const tls = 0x800;

/** The greeting of a mysqld that wants this plugin, with TLS or without. */
export function greeting(plugin = 'mysql_native_password', offersTls = false): Buffer {
  const capabilities = protocol41 | secureConnection | pluginAuth | (offersTls ? tls : 0) | 1;
  const fixed = Buffer.alloc(1 + 6 + 4 + 8 + 1 + 2 + 1 + 2 + 2 + 1 + 10);
  let at = fixed.writeUInt8(10, 0);
  at += fixed.write('8.4.4\0', at, 'latin1');
  at = fixed.writeUInt32LE(7, at);
  at += fixed.write('abcdefgh', at, 'latin1');
  at = fixed.writeUInt8(0, at);
  at = fixed.writeUInt16LE(capabilities & 0xffff, at);
  at = fixed.writeUInt8(255, at);
  at = fixed.writeUInt16LE(2, at);
  at = fixed.writeUInt16LE(capabilities >>> 16, at);
  fixed.writeUInt8(21, at);
  return packet(0, Buffer.concat([fixed, Buffer.from(`ijklmnopqrst\0${plugin}\0`, 'latin1')]));
}

export const ok = (sequence: number): Buffer => packet(sequence, Buffer.from([0, 0, 0, 2, 0, 0, 0]));

export const error = (sequence: number, code: number, message: string): Buffer =>
  packet(sequence, Buffer.concat([Buffer.from([0xff, code & 255, code >> 8]), Buffer.from(`#28000${message}`)]));

/** Accepts every login, and answers each command with these bytes. */
export function letsIn(answer: (socket: Socket) => void): (socket: Socket) => void {
  return (socket) => {
    let isIn = false;
    socket.write(greeting());
    socket.on('data', () => {
      if (isIn) return answer(socket);
      isIn = true;
      return void socket.write(ok(2));
    });
  };
}

/** Sends these bytes again and again, for as long as they are taken. */
export function floods(socket: Socket, bytes: Buffer): void {
  const pour = (): void => {
    while (!socket.destroyed && socket.write(bytes));
    if (!socket.destroyed) socket.once('drain', pour);
  };
  pour();
}
