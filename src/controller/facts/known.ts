import type { BudgetFacts, StepFailure } from '../../core/snapshot.ts';
import type { Ages } from '../../moco/ages.ts';
import type { AdmissionFinding, KnownKeeper } from './admission.ts';
import type { ComebackReadings } from './comeback-facts.ts';
import type { ContentionMemory } from './contention.ts';
import type { Finished } from './ended-step.ts';
import type { InPlaceReadings } from './in-place-updates.ts';
import type { KnownMysql } from './mysql-facts.ts';
import type { OwnWrite } from './own-writes.ts';
import type { KnownDelay } from './replication-delays.ts';

/** A failed step as the core knows it, without its age. */
export type FailedStep = Omit<StepFailure, 'sinceLastTrySeconds'> & { readonly atMilliseconds: number };

/** The API server's refusal to evict. It counts as long as the budgets do not change. */
export interface Refusal {
  readonly message: string;
  readonly atMilliseconds: number;
  /** The resourceVersions of the budgets at that time, by name. */
  readonly budgets: ReadonlyMap<BudgetFacts['name'], string>;
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

/** What decisions need and no object has: what was read for them, and what earlier passes have seen and done. */
export interface Known extends ComebackReadings, ContentionMemory {
  readonly ages: Ages;
  /** Own writes that the cache did not show yet. */
  readonly ownWrites: readonly OwnWrite[];
  readonly refusal: Refusal | null;
  /** The result that a release would have had, from a dry run. */
  readonly releaseRefusal: { readonly message: string; readonly atMilliseconds: number } | null;
  /** What recent dry runs showed about admission. `null` if the last dry run had the expected result. */
  readonly admissionProblem: AdmissionFinding | null;
  /** Who keeps the strategy of the StatefulSet, from the last dry run that showed it. */
  readonly strategyKeeper: KnownKeeper | null;
  /** When this process set the StatefulSet to OnDelete, the newest last, as far as remembered. */
  readonly adoptions: { readonly uid: string; readonly atMilliseconds: readonly number[] } | null;
  /** The last step, if it did not happen. Cleared once a step happens. */
  readonly stepFailure: FailedStep | null;
  /** The newest FailedCreate message of the StatefulSet, and when it was read. */
  readonly createFailure: { readonly message: string | null; readonly atMilliseconds: number } | null;
  /** What replicas said when they were last asked how far they are behind, by the uid of the pod. */
  readonly replicationDelays: ReadonlyMap<string, KnownDelay>;
  /** What MySQL itself last said. `null` before anybody was asked. */
  readonly mysql: KnownMysql | null;
  /** What updates in place depend on. */
  readonly inPlace: InPlaceReadings;
  readonly statusRefusal: StatusRefusal | null;
  /** The last step, unless the status has it. */
  readonly finished: Finished | null;
  /** When the last progress of the rollout was seen, and what was seen then. `null` if the status has it already. */
  readonly moved: { readonly revision: string; readonly seen: string; readonly at: string } | null;
}
