/**
 * The states still to be visited, those with the fewest faults first. A state that can be reached with fewer faults has
 * every future of the same state with more, so each is visited once, with the fewest that lead to it.
 */
export class Frontier {
  readonly #queues: Int32Array[] = [];
  readonly #heads: number[] = [];
  readonly #tails: number[] = [];
  /** The fewest faults with which each state has been reached. */
  #faults = new Uint8Array(1 << 16);
  #at = 0;

  faultsOf(state: number): number {
    return this.#faults[state] as number;
  }

  /** Says whether the state has to be visited (again): it is new, or has never been reached with so few faults. */
  reached(state: number, isNew: boolean, faults: number): boolean {
    if (state >= this.#faults.length) this.#faults = grown(this.#faults, new Uint8Array(this.#faults.length * 2));
    if (!isNew && (this.#faults[state] as number) <= faults) return false;
    this.#faults[state] = faults;
    while (this.#queues.length <= faults) {
      this.#queues.push(new Int32Array(1 << 10));
      this.#heads.push(0);
      this.#tails.push(0);
    }
    const tail = this.#tails[faults] as number;
    let queue = this.#queues[faults] as Int32Array;
    if (tail === queue.length) {
      queue = grown(queue, new Int32Array(queue.length * 2));
      this.#queues[faults] = queue;
    }
    queue[tail] = state;
    this.#tails[faults] = tail + 1;
    return true;
  }

  /** The next state, or -1 where every state has been visited. */
  next(): number {
    for (; this.#at < this.#queues.length; this.#at++) {
      const queue = this.#queues[this.#at] as Int32Array;
      const tail = this.#tails[this.#at] as number;
      for (let head = this.#heads[this.#at] as number; head < tail; head++) {
        const state = queue[head] as number;
        // Else it has been reached with fewer since, and visited then.
        if (this.#faults[state] !== this.#at) continue;
        this.#heads[this.#at] = head + 1;
        return state;
      }
      this.#heads[this.#at] = tail;
    }
    return -1;
  }
}

function grown<T extends Uint8Array | Int32Array>(from: T, to: T): T {
  to.set(from);
  return to;
}
