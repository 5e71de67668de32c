// oxlint-disable no-restricted-imports -- for the type of the connection that this file limits
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';

/**
 * A connection on which the other side may send at most this many bytes in total. If it sends more, the connection ends
 * with the error `tooMany`.
 */
export class BoundedStream extends Duplex {
  readonly #socket: Socket;

  constructor(socket: Socket, mostBytes: number, tooMany: Error) {
    super();
    this.#socket = socket;
    let received = 0;
    socket.on('data', (chunk) => {
      received += chunk.length;
      if (received > mostBytes) this.destroy(tooMany);
      else if (!this.push(chunk)) socket.pause();
    });
    socket.on('end', () => this.push(null));
    socket.on('connect', () => this.emit('connect'));
    socket.on('error', (error) => this.destroy(error));
    socket.on('close', () => this.destroy());
  }

  override _read(): void {
    this.#socket.resume();
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, callback: (error?: Error | null) => void): void {
    this.#socket.write(chunk, callback);
  }

  override _final(callback: () => void): void {
    this.#socket.end(callback);
  }

  override _destroy(error: Error | null, callback: (error: Error | null) => void): void {
    this.#socket.destroy();
    callback(error);
  }
}
