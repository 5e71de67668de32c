/**
 * States as a few 32-bit words each, in the order in which they were found, with a hash index over them. Typed arrays
 * all through: a JavaScript Set ends at 2^24 entries, and long before that its keys fill the heap. The index holds the
 * words as well, since a look at a second place in memory is what a search costs.
 */
export class StateTable {
  readonly words: number;
  readonly #stride: number;
  #states: Int32Array;
  /** In each slot one more than the number of its state, 0 where it is free, and then the words of the state. */
  #slots: Int32Array;
  #mask: number;
  #count = 0;

  constructor(words: number, capacity = 1 << 16) {
    this.words = words;
    this.#stride = words + 1;
    this.#states = new Int32Array(capacity * words);
    this.#slots = new Int32Array(capacity * 2 * this.#stride);
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
    this.#slots.set(key, slot + 1);
    if (this.#count * 4 > this.#mask * 3) this.#growSlots();
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

  /** Where the slot of the state in `key` begins, or the free one for it. */
  #find(key: Int32Array): number {
    const words = this.words;
    const slots = this.#slots;
    let hash = 0x9e3779b9;
    for (let word = 0; word < words; word++) {
      hash = Math.imul(hash ^ (key[word] as number), 0x85ebca6b);
      hash ^= hash >>> 15;
    }
    hash = Math.imul(hash, 0xc2b2ae35);
    hash ^= hash >>> 13;
    for (let at = hash & this.#mask; ; at = (at + 1) & this.#mask) {
      const slot = at * this.#stride;
      if (slots[slot] === 0) return slot;
      let word = 0;
      while (word < words && slots[slot + 1 + word] === key[word]) word++;
      if (word === words) return slot;
    }
  }

  #growStates(): void {
    const grown = new Int32Array(this.#states.length * 2);
    grown.set(this.#states);
    this.#states = grown;
  }

  #growSlots(): void {
    const slots = (this.#mask + 1) * 2;
    this.#slots = new Int32Array(slots * this.#stride);
    this.#mask = slots - 1;
    const key = new Int32Array(this.words);
    for (let number = 0; number < this.#count; number++) {
      this.read(number, key);
      const slot = this.#find(key);
      this.#slots[slot] = number + 1;
      this.#slots.set(key, slot + 1);
    }
  }
}
