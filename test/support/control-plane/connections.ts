import type { Socket } from 'node:net';

/** Those of a proxy, all of which can be broken at once. */
export class Connections {
  readonly #sockets = new Set<Socket>();
  #isOpen = true;

  get count(): number {
    return this.#sockets.size;
  }

  /** Returns whether the connection may pass; if not it is closed already. */
  accept(socket: Socket): boolean {
    this.keep(socket);
    if (!this.#isOpen) socket.resetAndDestroy();
    return this.#isOpen;
  }

  keep(socket: Socket): void {
    this.#sockets.add(socket);
    // Whoever cuts a connection doesn't want to hear of it.
    socket.on('error', () => {});
    socket.on('close', () => this.#sockets.delete(socket));
  }

  /** Breaks every connection, even in the middle of a message. New ones pass. */
  cut(): void {
    for (const socket of this.#sockets) socket.resetAndDestroy();
  }

  /** As `cut`, and no connection passes before `mend`. */
  sever(): void {
    this.#isOpen = false;
    this.cut();
  }

  mend(): void {
    this.#isOpen = true;
  }
}
