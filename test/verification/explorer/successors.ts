import * as c from './cells.ts';

/** Part of the world going well: what progress may count on. */
export const benign = 1;
/** MOCO's doing: the only moves that change what is read last. */
export const moco = 2;
/** Time alone, and a lot of it: counted on only where nothing else happens any more. */
export const late = 4;

/** The states that may come next, in memory that is used again and again. */
export class Successors {
  readonly states: c.Cells[] = [];
  readonly kinds: number[] = [];
  count = 0;

  clear(): void {
    this.count = 0;
  }

  /** A copy of `cells` to be changed; it counts from now on, until it is dropped. */
  add(cells: c.Cells, kind: number): c.Cells {
    const number = this.count++;
    let state = this.states[number];
    if (state === undefined) {
      state = new Uint16Array(c.cellCount);
      this.states.push(state);
    }
    state.set(cells);
    this.kinds[number] = kind;
    return state;
  }

  drop(): void {
    this.count--;
  }
}
