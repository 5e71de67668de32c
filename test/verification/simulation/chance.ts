/** Chance that is the same for the same seed: xoshiro128**, seeded by a hash of a text. */
export class Chance {
  readonly #seed: string;
  #a: number;
  #b: number;
  #c: number;
  #d: number;

  constructor(seed: string) {
    this.#seed = seed;
    const next = hash(seed);
    this.#a = next();
    this.#b = next();
    this.#c = next();
    this.#d = next() | 1;
  }

  /** From 0 (inclusive) to 1 (exclusive). */
  next(): number {
    const result = Math.imul(rotate(Math.imul(this.#b, 5), 7), 9) >>> 0;
    const shifted = this.#b << 9;
    this.#c ^= this.#a;
    this.#d ^= this.#b;
    this.#b ^= this.#c;
    this.#a ^= this.#d;
    this.#c ^= shifted;
    this.#d = rotate(this.#d, 11);
    return result / 2 ** 32;
  }

  /** A stream of its own: what is drawn from it changes nothing elsewhere. */
  fork(name: string): Chance {
    return new Chance(`${this.#seed}/${name}`);
  }

  between(from: number, to: number): number {
    return from + this.next() * (to - from);
  }

  /** A whole number, both ends included. */
  whole(from: number, to: number): number {
    return Math.floor(this.between(from, to + 1));
  }

  /** Milliseconds, of so many seconds. */
  span(fromSeconds: number, toSeconds: number): number {
    return Math.round(this.between(fromSeconds, toSeconds) * 1000);
  }

  happens(probability: number): boolean {
    return this.next() < probability;
  }

  pick<T>(list: readonly T[]): T {
    const chosen = list[Math.floor(this.next() * list.length)];
    if (chosen === undefined) throw new Error('expected something to choose from, got an empty list');
    return chosen;
  }
}

const rotate = (value: number, by: number): number => (value << by) | (value >>> (32 - by));

/** FNV-1a, then mixed for each word that is asked for. */
function hash(text: string): () => number {
  let state = 0x811c9dc5;
  for (let index = 0; index < text.length; index++) state = Math.imul(state ^ text.charCodeAt(index), 0x01000193);
  return () => {
    state = (state + 0x9e3779b9) | 0;
    let mixed = Math.imul(state ^ (state >>> 16), 0x21f0aaad);
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97);
    return mixed ^ (mixed >>> 15);
  };
}
