/** Lets work go on side by side, as much of it as fits at a time, in the order in which it was asked for. */
export class Turns {
  readonly #capacity: number;
  readonly #waiting: { readonly weight: number; readonly begin: () => void }[] = [];
  readonly #running = new Set<object>();
  #used = 0;

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
    this.#waiting.push({ weight, begin: resolve });
    this.#beginNext();
    await promise;
    const turn = {};
    this.#running.add(turn);
    let held = weight;
    const rest = (): void => {
      this.#used -= held;
      held = 0;
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
      if (next === undefined || (this.#used > 0 && this.#used + next.weight > this.#capacity)) return;
      this.#waiting.shift();
      this.#used += next.weight;
      next.begin();
    }
  }
}
