/**
 * States as a few 32-bit words each, in the order in which they were found, with a hash index over them. Typed arrays
 * all through: a JavaScript Set ends at 2^24 entries, and long before that its keys fill the heap.
 */
export class StateTable {
  readonly words: number;
  #states: Int32Array;
  /** One more than the number of the state in each slot; 0 where the slot is free. */
  #slots: Int32Array;
  #mask: number;
  #count = 0;

  constructor(words: number, capacity = 1 << 16) {
    this.words = words;
    this.#states = new Int32Array(capacity * words);
    this.#slots = new Int32Array(capacity * 2);
    this.#mask = capacity * 2 - 1;
  }

  get count(): number {
    return this.#count;
  }

  /** The number of the state in `key`; the bitwise complement of its new number where it was not there before. */
  add(key: Int32Array): number {
    const slot = this.#find(key);
    const there = this.#slots[slot] as number;
    if (there > 0) return there - 1;
    const number = this.#count++;
    if (number * this.words >= this.#states.length) this.#growStates();
    this.#states.set(key, number * this.words);
    this.#slots[slot] = number + 1;
    if (this.#count * 2 > this.#mask) this.#growSlots();
    return ~number;
  }

  /** The number of the state in `key`, or -1. */
  find(key: Int32Array): number {
    return (this.#slots[this.#find(key)] as number) - 1;
  }

  read(number: number, key: Int32Array): void {
    const at = number * this.words;
    for (let word = 0; word < this.words; word++) key[word] = this.#states[at + word] as number;
  }

  #find(key: Int32Array): number {
    const { words } = this;
    const states = this.#states;
    let hash = 0x9e3779b9;
    for (let word = 0; word < words; word++) {
      hash = Math.imul(hash ^ (key[word] as number), 0x85ebca6b);
      hash ^= hash >>> 15;
    }
    hash = Math.imul(hash, 0xc2b2ae35);
    hash ^= hash >>> 13;
    let slot = hash & this.#mask;
    for (;;) {
      const there = this.#slots[slot] as number;
      if (there === 0) return slot;
      const at = (there - 1) * words;
      let word = 0;
      while (word < words && states[at + word] === key[word]) word++;
      if (word === words) return slot;
      slot = (slot + 1) & this.#mask;
    }
  }

  #growStates(): void {
    const grown = new Int32Array(this.#states.length * 2);
    grown.set(this.#states);
    this.#states = grown;
  }

  #growSlots(): void {
    this.#slots = new Int32Array(this.#slots.length * 2);
    this.#mask = this.#slots.length - 1;
    const key = new Int32Array(this.words);
    for (let number = 0; number < this.#count; number++) {
      this.read(number, key);
      this.#slots[this.#find(key)] = number + 1;
    }
  }
}
