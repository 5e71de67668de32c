import * as c from './cells.ts';
import { mayAsk, type World } from './world.ts';

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
  const { replicas: n, families } = world;
  const when = (condition: boolean, bits: number): number => (condition ? bits : 0);
  const several = n > 1;
  const remembers = !world.folded || world.badRevision || families.has('new-pods');
  const template = families.has('template');
  const newPods = families.has('new-pods');
  for (let ordinal = 0; ordinal < n; ordinal++) {
    yield [c.HEALTH + ordinal, newPods ? 5 : 4];
    yield [c.REVISION + ordinal, template || newPods ? 2 : 1];
    yield [c.SETTLED + ordinal, 1];
    yield [c.DEMOTE + ordinal, template ? 3 : 2];
  }
  yield [c.INDEX, when(several, 3)];
  yield [c.PHASE, 3];
  yield [c.TO, when(several, 3)];
  yield [c.LEAD, 2];
  yield [c.STATUS, 2];
  yield [c.SYNCED, when(families.has('two-at-once'), 3)];
  yield [c.GRACE, when(!world.folded, 1)];
  yield [c.TIMEOUT, 1];
  yield [c.WAITED, when(!world.folded, 1)];
  yield [c.STUCK, when(world.badRevision || families.has('unconfigurable'), 1)];
  yield [c.VERIFIED, when(remembers, 1)];
  yield [c.TAKEN, when(remembers, n)];
  yield [c.TRIES, when(!world.folded, 2)];
  yield [c.INTENT, when(families.has('late-write'), 3)];
  yield [c.INTENDED, when(families.has('late-write'), n)];
  yield [c.TARGET, when(template, 2)];
  yield [c.WANTED, when(template, 2)];
  yield [c.STAGE, when(template, 2)];
  yield [c.CHANGES, when(template, 2)];
  yield [c.BAD, when(world.badRevision, 1)];
  yield [c.OPEN, when(families.has('budget'), 1)];
  yield [c.COMPUTED, when(families.has('budget'), 1)];
  yield [c.BACKUP, when(families.has('budget'), 2)];
  yield [c.PREVENT, when(families.has('prevent-delete'), n)];
  yield [c.ERRANT, when(families.has('errant'), n)];
  yield [c.PAUSED, when(mayAsk(world, 'pauses'), 1)];
  yield [c.HELD, when(mayAsk(world, 'pins'), 1)];
  yield [c.APPROVED, when(mayAsk(world, 'approves'), 1)];
  yield [c.RESTORE, when(mayAsk(world, 'restores'), 1)];
  yield [c.PARTITION, when(families.has('partition-mode'), 3)];
  yield [c.UPSTREAM, when(families.has('upstream'), 2)];
  yield [c.WINDOW, when(families.has('maintenance'), 2)];
  yield [c.SCALE, when(families.has('scaling'), 2)];
  yield [c.RESTARTING, when(families.has('in-place') || families.has('slow-log'), n)];
  for (let ordinal = 0; ordinal < n; ordinal++) yield [c.RESIZE + ordinal, when(families.has('resize'), 3)];
  yield [c.TOP, when(families.has('relay-log'), 3)];
  yield [c.HALTED, when(families.has('relay-log'), 1)];
  yield [c.GONE, when(families.has('relay-log'), n)];
  yield [c.AGENTLESS, when(families.has('agents'), n)];
  yield [c.BROKEN, when(families.has('unconfigurable'), n)];
  yield [c.DELAYED, when(families.has('delay'), 1)];
  yield [c.CORDONED, when(families.has('cordons'), n)];
  yield [c.CLAIMS, when(families.has('claims'), n)];
  yield [c.NEW_PODS, when(newPods, 2)];
  yield [c.FOLLOWS, when(newPods, 1)];
  yield [c.CURRENT, when(newPods, 2)];
  yield [c.NOTED, when(newPods, 1)];
  yield [c.EARLIER, when(newPods && template, 2)];
  for (const at of [c.WAITING, c.CREATED, c.STARTED, c.RESTORING, c.TOOK, c.BACK, c.RAN]) yield [at, when(newPods, n)];
  yield [c.MOVES, when(world.countMoves, 2)];
  yield [c.LOST, when(world.badRevision, n)];
}
