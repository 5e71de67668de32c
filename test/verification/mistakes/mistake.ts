import type { Decide } from '../explorer/decisions.ts';
import type { Broken } from '../explorer/findings.ts';
import type { Invariant } from '../explorer/judge.ts';
import type { World } from '../explorer/world.ts';
import type { Scenario } from '../simulation/draw.ts';

/** A module of the program, and the one that takes its place while the program is loaded. */
export interface Substitution {
  /** Its path from the root of the project. */
  readonly imported: string;
  /** The modules whose import is replaced: those whose path begins with this. */
  readonly importer: string;
  /** Its URL. */
  readonly substitute: string;
}

/** What a layer says about a controller with the mistake: the broken invariant, or a rollout that never ends. */
export type Found = Invariant | 'cycle' | 'stuck';

/** How the explorer looks for a mistake. */
export interface Explored {
  readonly finds: Found;
  /** The smallest world in which it shows. */
  readonly world: World;
  /** What the explorer itself does wrongly, for a mistake that is not one of `decide`. */
  readonly breaks?: Omit<Broken, 'decide' | 'wanted'>;
}

/** A controller with one mistake. Every layer that it names has to find it. */
export interface Mistake {
  /** What the controller does, as the end of "a controller that …". */
  readonly wrong: string;
  /** Takes the place of the right `decide`, in every layer. */
  readonly decide?: Decide;
  /** Takes the place of one module of the program, in the simulation, in histories of a fleet and in the cache. */
  readonly module?: Substitution;
  /** What the judge of single decisions finds, on states that were generated. */
  readonly snapshots?: RegExp;
  readonly explorer?: Explored;
  /** Where it shows in the simulation: its themes, none for any theme, or one scenario for what seldom comes about. */
  readonly simulation?: readonly string[] | Scenario;
  /** The first seed that the simulation tries, default 1. If it no longer shows the mistake, a later seed does. */
  readonly firstSeed?: number;
  /** What random histories of a fleet in stages say about it. */
  readonly fleet?: RegExp;
  /** The objects that a cache loses although they exist. */
  readonly cache?: readonly string[];
}
