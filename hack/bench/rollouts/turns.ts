/** Runs work concurrently, as much as fits at a time, in the order of the calls. */
export class Turns {
  readonly #capacity: number;
  readonly #waiting: Turn[] = [];
  readonly #running = new Set<Turn>();
  /** Those that have not left their place to others. */
  readonly #placed = new Set<Turn>();

  /** In whatever `weight` is given in. */
  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get running(): number {
    return this.#running.size;
  }

  /**
   * Something heavier than everything that fits goes alone.
   *
   * @param work is given a function by which it says that from now on it only waits, and leaves its place to others
   */
  async take<T>(weight: number, work: (rest: () => void) => Promise<T>): Promise<T> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const turn = { weight, begin: resolve };
    this.#waiting.push(turn);
    this.#beginNext();
    await promise;
    this.#running.add(turn);
    const rest = (): void => {
      this.#placed.delete(turn);
      this.#beginNext();
    };
    try {
      return await work(rest);
    } finally {
      this.#running.delete(turn);
      rest();
    }
  }

  #beginNext(): void {
    for (;;) {
      const [next] = this.#waiting;
      if (next === undefined || (this.#placed.size > 0 && this.#weight() + next.weight > this.#capacity)) return;
      this.#waiting.shift();
      this.#placed.add(next);
      next.begin();
    }
  }

  /** Summed again each time: subtracting fractions leaves a remainder, which would count as work. */
  #weight(): number {
    return [...this.#placed].reduce((sum, { weight }) => sum + weight, 0);
  }
}

interface Turn {
  readonly weight: number;
  readonly begin: () => void;
}
