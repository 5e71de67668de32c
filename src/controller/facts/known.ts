import type { StepFailure } from '../../core/snapshot.ts';
import type { Ages } from '../../moco/ages.ts';
import type { AdmissionFinding, KnownKeeper } from './admission.ts';
import type { Lowered, SpecWrites } from './contention.ts';
import type { Finished } from './ended-step.ts';
import type { OwnWrite } from './own-writes.ts';
import { nothingRead, type Readings } from './readings.ts';

/** The API server's refusal to evict. It counts as long as the budgets do not change. */
export interface Refusal {
  readonly message: string;
  readonly atMilliseconds: number;
  /** The resourceVersions of the budgets at that time, by name. */
  readonly budgets: ReadonlyMap<string, string>;
}

/** The API server's message if its CRD did not know all fields of a status, and whether that status had an intent. */
export interface StatusRefusal {
  readonly message: string;
  readonly withIntent: boolean;
  readonly atMilliseconds: number;
}

/** How long no step is tried, and no status of the same kind written, after the API server refused a status. */
const refusalMilliseconds = 30_000;

/** The remaining milliseconds of a status refusal; 0 if there is none. */
export const refusalStands = (refusal: StatusRefusal | null, nowMilliseconds: number): number =>
  refusal === null ? 0 : Math.max(0, refusal.atMilliseconds + refusalMilliseconds - nowMilliseconds);

/** What decisions need and no object has: what was read for them, and what earlier passes have seen, done and told. */
export interface Known {
  readonly seen: {
    /** Since when the facts of the objects have had their values. Each fact ends when it is not asked for any more. */
    readonly ages: Ages;
    /** How fast the generation of the StatefulSet grows. Begins anew with another StatefulSet. */
    readonly specWrites: SpecWrites | null;
    /** When the last progress of the rollout was seen, and what was seen then. Ends once the status has it. */
    readonly moved: { readonly revision: string; readonly seen: string; readonly at: string } | null;
  };
  readonly unseen: {
    /** What the last step wrote. Each ends once the cache shows it, at the latest after 30 s. */
    readonly writes: readonly OwnWrite[];
  };
  readonly readings: Readings;
  readonly steps: {
    /** The last step, unless the status has it: a later failure without effect does not replace it. */
    readonly finished: Finished | null;
    /** The last step, if it did not happen, and when. Ends once a step happens, or one of another kind fails. */
    readonly failure: { readonly failure: StepFailure; readonly atMilliseconds: number } | null;
    /** Replaced by the next refusal. Counts while the budgets are the same. */
    readonly refusal: Refusal | null;
    /** The partition that this process has set last, and how often. Replaced by the next one. */
    readonly lowered: Lowered | null;
    /** The result that a release would have had, from a dry run. Ends with the next step that disrupts no member. */
    readonly releaseRefusal: { readonly message: string; readonly atMilliseconds: number } | null;
    /** What recent dry runs showed about admission. Ends with one that has the expected result. */
    readonly admissionProblem: AdmissionFinding | null;
    /** Who keeps the strategy of the StatefulSet. Replaced by the next dry run that shows it. */
    readonly strategyKeeper: KnownKeeper | null;
    /** When this process set the StatefulSet to OnDelete, the newest last. Ends with a release. */
    readonly adoptions: { readonly uid: string; readonly atMilliseconds: readonly number[] } | null;
  };
  readonly told: {
    /** Ends once a status of the same kind is accepted. Counts for 30 s. */
    readonly statusRefusal: StatusRefusal | null;
  };
}

/** What is known of a cluster that is looked at for the first time, apart from what was just read. */
export const knownAtFirst = (ages: Ages, readings: Partial<Readings> = {}): Known => ({
  seen: { ages, specWrites: null, moved: null },
  unseen: { writes: [] },
  readings: { ...nothingRead, ...readings },
  steps: {
    finished: null,
    failure: null,
    refusal: null,
    lowered: null,
    releaseRefusal: null,
    admissionProblem: null,
    strategyKeeper: null,
    adoptions: null,
  },
  told: { statusRefusal: null },
});
