import type * as c from './cells.ts';
import type { Decide, Verdict } from './decisions.ts';
import type { Invariant } from './judge.ts';

/** A controller that is wrong on purpose, and what is then to be found. */
export interface Broken {
  readonly decide?: Decide;
  /** Acts on what it once decided, however long ago; or only where it changes the StatefulSet alone. */
  readonly unconfirmed?: boolean | 'StatefulSet';
  /** Reads the pods before what says which of them are stale, or beside it. */
  readonly podsFirst?: boolean;
  /** Leaves uid and resourceVersion out. */
  readonly unconditional?: boolean;
  /** Takes the next step whatever intent it finds. */
  readonly unfenced?: boolean;
  /** The one invariant that is looked for; others are passed over. */
  readonly wanted?: Invariant;
}

export interface Bounds {
  /** Ends the exploration, unfinished, after so many states. */
  readonly states?: number;
}

/** How it came about: from a beginning, state by state, then what happened within one confirmation. */
export interface Counterexample {
  readonly invariant: Invariant;
  readonly path: readonly c.Cells[];
  readonly window: readonly c.Cells[];
  readonly verdict: Verdict;
}

export interface Findings {
  readonly states: number;
  readonly transitions: number;
  /** Disruptions whose condition ceased to hold between their confirmation and their commit. */
  readonly races: number;
  readonly steps: number;
  /** Different sets of facts that were decided on. */
  readonly decisions: number;
  /** Every state has been looked at. */
  readonly finished: boolean;
  readonly counterexample: Counterexample | null;
}
