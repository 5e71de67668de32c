/** Tokens taken before the calls that need them, so that none of these calls waits. Unused tokens are returned. */
export class Reservation {
  #left: number;
  readonly #release: (tokens: number) => void;

  constructor(tokens: number, release: (tokens: number) => void) {
    this.#left = tokens;
    this.#release = release;
  }

  /** Whether there was one left for a call. */
  take(): boolean {
    if (this.#left === 0) return false;
    this.#left -= 1;
    return true;
  }

  /** Takes no more tokens. */
  end(): void {
    const left = this.#left;
    this.#left = 0;
    if (left > 0) this.#release(left);
  }
}
