import * as c from './cells.ts';
import type { World } from './world.ts';

/** Packs the cells that vary in a world into as few words as they need; no cell lies in two words. */
export class Layout {
  readonly words: number;
  readonly bits: number;
  readonly #at: Uint8Array;
  readonly #word: Uint8Array;
  readonly #shift: Uint8Array;
  readonly #mask: Uint8Array;

  constructor(world: World) {
    const placed: { at: number; word: number; shift: number; mask: number }[] = [];
    let word = 0;
    let used = 0;
    let bits = 0;
    for (const [at, width] of widths(world)) {
      if (width === 0) continue;
      if (used + width > 32) {
        word++;
        used = 0;
      }
      placed.push({ at, word, shift: used, mask: (1 << width) - 1 });
      used += width;
      bits += width;
    }
    this.words = word + 1;
    this.bits = bits;
    this.#at = Uint8Array.from(placed, ({ at }) => at);
    this.#word = Uint8Array.from(placed, ({ word }) => word);
    this.#shift = Uint8Array.from(placed, ({ shift }) => shift);
    this.#mask = Uint8Array.from(placed, ({ mask }) => mask);
  }

  pack(cells: c.Cells, offset: number, key: Int32Array): void {
    key.fill(0);
    for (let field = 0; field < this.#at.length; field++) {
      const word = this.#word[field] as number;
      key[word] =
        (key[word] as number) |
        ((cells[offset + (this.#at[field] as number)] as number) << (this.#shift[field] as number));
    }
  }

  /** Cells that have no place keep what they are. */
  unpack(key: Int32Array, cells: c.Cells): void {
    for (let field = 0; field < this.#at.length; field++) {
      const word = key[this.#word[field] as number] as number;
      cells[this.#at[field] as number] = (word >>> (this.#shift[field] as number)) & (this.#mask[field] as number);
    }
  }
}

function* widths(world: World): Generator<readonly [at: number, bits: number]> {
  for (const { at, bits, isOfEach } of c.cells) {
    for (let ordinal = 0; ordinal < (isOfEach ? world.replicas : 1); ordinal++) yield [at + ordinal, bits(world)];
  }
}
