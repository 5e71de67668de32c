interface Entry {
  readonly atMilliseconds: number;
  readonly order: number;
  readonly run: () => void;
  cancelled: boolean;
}

/** How long the code under test may run without virtual time advancing before it counts as spinning. */
const mostEventsAtOnce = 200_000;

/**
 * Virtual time: planned events in the order of their times, and for equal times in the order of planning. Between two
 * events all code that waits for promises settles.
 */
export class VirtualClock {
  readonly #heap: Entry[] = [];
  #nowMilliseconds = 0;
  #order = 0;
  #awake = false;
  #atOnce = 0;
  #steps = 0;

  /** Since the beginning of the simulation. */
  get nowMilliseconds(): number {
    return this.#nowMilliseconds;
  }

  /** How many things have happened. */
  get steps(): number {
    return this.#steps;
  }

  /** Returns a function that cancels it. */
  after(delayMilliseconds: number, run: () => void): () => void {
    const entry: Entry = {
      atMilliseconds: this.#nowMilliseconds + Math.max(0, delayMilliseconds),
      order: this.#order++,
      run,
      cancelled: false,
    };
    this.#push(entry);
    return () => {
      entry.cancelled = true;
    };
  }

  /** Call after resolving promises of the code under test: it runs before time advances. */
  wake(): void {
    this.#awake = true;
  }

  /** Goes on until the condition holds or that much time has passed; resolves to whether it holds. */
  async runUntil(condition: () => boolean, withinMilliseconds: number): Promise<boolean> {
    const end = this.#nowMilliseconds + withinMilliseconds;
    await this.#rest();
    while (!condition()) {
      const entry = this.#pop(end);
      if (entry === null) {
        this.#nowMilliseconds = end;
        return condition();
      }
      this.#atOnce = entry.atMilliseconds > this.#nowMilliseconds ? 0 : this.#atOnce + 1;
      if (this.#atOnce > mostEventsAtOnce) throw new Error('expected time to pass, it stood still');
      this.#nowMilliseconds = entry.atMilliseconds;
      this.#steps += 1;
      entry.run();
      await this.#rest();
    }
    return true;
  }

  /** Every promise that can be settled is settled before a macrotask runs. */
  async #rest(): Promise<void> {
    if (!this.#awake) return;
    this.#awake = false;
    await new Promise((resolve) => {
      setImmediate(resolve);
    });
  }

  #push(entry: Entry): void {
    const heap = this.#heap;
    let index = heap.push(entry) - 1;
    while (index > 0) {
      const parent = (index - 1) >> 1;
      const above = heap[parent] as Entry;
      if (!isBefore(entry, above)) break;
      heap[index] = above;
      index = parent;
    }
    heap[index] = entry;
  }

  /** The next one that has not been cancelled and is due by then. */
  #pop(endMilliseconds: number): Entry | null {
    for (;;) {
      const [first] = this.#heap;
      if (first === undefined || (first.atMilliseconds > endMilliseconds && !first.cancelled)) return null;
      const last = this.#heap.pop() as Entry;
      if (this.#heap.length > 0) this.#sink(last);
      if (!first.cancelled) return first;
    }
  }

  #sink(entry: Entry): void {
    const heap = this.#heap;
    let index = 0;
    for (;;) {
      let child = 2 * index + 1;
      if (child >= heap.length) break;
      if (child + 1 < heap.length && isBefore(heap[child + 1] as Entry, heap[child] as Entry)) child += 1;
      const below = heap[child] as Entry;
      if (!isBefore(below, entry)) break;
      heap[index] = below;
      index = child;
    }
    heap[index] = entry;
  }
}

function isBefore(left: Entry, right: Entry): boolean {
  return (
    left.atMilliseconds < right.atMilliseconds ||
    (left.atMilliseconds === right.atMilliseconds && left.order < right.order)
  );
}
