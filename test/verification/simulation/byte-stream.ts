/** A body that arrives in pieces, until it ends, breaks or is cancelled. */
export class ByteStream implements AsyncIterable<Uint8Array> {
  readonly #pieces: Uint8Array[] = [];
  readonly #onClose: () => void;
  #end: { readonly error: Error | null } | null = null;
  #waiting: { resolve: (result: IteratorResult<Uint8Array>) => void; reject: (error: Error) => void } | null = null;

  /** `onClose` is called once, whichever side closes. */
  constructor(onClose: () => void) {
    this.#onClose = onClose;
  }

  push(piece: Uint8Array): void {
    if (this.#end !== null) return;
    this.#pieces.push(piece);
    this.#serve();
  }

  /** With an error it breaks; what has been pushed before is still read. */
  close(error: Error | null = null): void {
    if (this.#end !== null) return;
    this.#end = { error };
    this.#onClose();
    this.#serve();
  }

  [Symbol.asyncIterator](): AsyncIterator<Uint8Array> {
    return {
      next: () =>
        new Promise((resolve, reject) => {
          this.#waiting = { resolve, reject };
          this.#serve();
        }),
      return: () => {
        this.close();
        return Promise.resolve({ done: true, value: undefined });
      },
    };
  }

  #serve(): void {
    const waiting = this.#waiting;
    if (waiting === null) return;
    const piece = this.#pieces.shift();
    if (piece === undefined && this.#end === null) return;
    this.#waiting = null;
    if (piece !== undefined) waiting.resolve({ done: false, value: piece });
    else if (this.#end?.error) waiting.reject(this.#end.error);
    else waiting.resolve({ done: true, value: undefined });
  }
}
