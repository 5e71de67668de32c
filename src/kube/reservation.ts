/** Tokens taken ahead of the calls that need them, so that none of these waits for its turn. What is left goes back. */
export class Reservation {
  #left: number;
  readonly #giveBack: (tokens: number) => void;

  constructor(tokens: number, giveBack: (tokens: number) => void) {
    this.#left = tokens;
    this.#giveBack = giveBack;
  }

  /** Whether there was one left for a call. */
  take(): boolean {
    if (this.#left === 0) return false;
    this.#left -= 1;
    return true;
  }

  /** Nothing can be taken any more. */
  end(): void {
    const left = this.#left;
    this.#left = 0;
    if (left > 0) this.#giveBack(left);
  }
}
