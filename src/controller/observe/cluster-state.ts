import type { MySQLRollout } from '../../api/rollout.ts';
import type { LastStep, RolloutStatus, TemplateChange } from '../../api/rollout-status.ts';
import type { EndingClaim, TiedToNode } from '../../core/comeback-reading.ts';
import type { Hold } from '../../core/decision.ts';
import type { MemberSaid, MysqlReading } from '../../core/mysql-reading.ts';
import type { DelayReading } from '../../core/replication-delay.ts';
import type { AdmissionProblem, ClusterSnapshot, StepFailure } from '../../core/snapshot.ts';
import type { World } from '../../kube/world.ts';
import { Ages } from '../../moco/ages.ts';
import type { Json } from '../../moco/json.ts';
import type { ContentionMemory } from './contention.ts';
import { type InPlaceReadings, nothingRead } from './in-place.ts';
import type { OwnWrite } from './own-writes.ts';

/** The result of a step. `unknown`: it may or may not have happened. */
export type StepResult = 'done' | 'refused' | 'conflict' | 'unknown';

/** A step whose result is not in the status yet. */
export interface Finished {
  readonly lastStep: LastStep;
  readonly result: StepResult;
  /** The update revision that the step was for. */
  readonly revision: string;
  /** The number of members that the step disrupted. */
  readonly disrupted: number;
  /** It updated the primary of several members in place. */
  readonly sparesSwitchover: boolean;
  /**
   * Whether a demotion was requested or withdrawn. A withdrawal after its timeout is a failed try; other withdrawals
   * are not.
   */
  readonly demotion:
    | { readonly askedAt: string; readonly pod: { name: string; uid: string } }
    | 'timedOut'
    | 'takenBack'
    | null;
}

export const didNotHappen = ({ result }: Finished): boolean => result === 'refused' || result === 'conflict';

/** The last result, unless the status has it already: the response to a status write may have been lost. */
export function unreported({ lastStep }: RolloutStatus, { finished }: Pick<ClusterState, 'finished'>): Finished | null {
  const isKnown = finished?.lastStep.at === lastStep?.at && finished?.lastStep.step === lastStep?.step;
  return isKnown && finished?.lastStep.pods.join() === lastStep?.pods.join() ? null : finished;
}

export interface RevisionChange {
  readonly atMilliseconds: number;
  readonly wallMilliseconds: number;
}

/** Who keeps the strategy of StatefulSets with our label. */
export type StrategyKeeper = NonNullable<ClusterSnapshot['strategyKeeper']>;

/** A dry run with an unexpected result. */
export interface AdmissionFinding {
  readonly mode: AdmissionProblem['mode'];
  readonly finding: string;
  readonly tries: number;
  readonly atMilliseconds: number;
}

/** The API server's refusal to evict. It counts as long as the budgets do not change. */
export interface Refusal {
  readonly message: string;
  readonly atMilliseconds: number;
  /** The resourceVersions of the budgets at that time, by name. */
  readonly budgets: ReadonlyMap<string, string>;
}

/** A failed step as the core knows it, without its age. */
export type FailedStep = Omit<StepFailure, 'sinceLastTrySeconds'> & { readonly atMilliseconds: number };

/** The last reading of a pod, on the monotonic clock. */
export interface KnownDelay {
  readonly reading: DelayReading;
  readonly atMilliseconds: number;
  /** The first of the unknown readings in a row; `null` if the last one is not unknown. */
  readonly unknownSinceMilliseconds: number | null;
}

/** What MySQL itself last said, on the monotonic clock. */
export interface KnownMysql extends Pick<MysqlReading, 'problem' | 'writes'> {
  /** By the uid of the pod. `null` if the last answer is not unknown, else the first of the unknown ones in a row. */
  readonly members: ReadonlyMap<
    string,
    { readonly said: MemberSaid; readonly unknownSinceMilliseconds: number | null }
  >;
  /** Since when a switchover waits for writes, or `null`. */
  readonly waitingSinceMilliseconds: number | null;
  readonly atMilliseconds: number;
}

/** What was last read about whether a member can come back, on the monotonic clock. */
export interface KnownComeback {
  /** The claims that the pod mounts. */
  readonly claimNames: readonly string[];
  /** Those of the pod, as the API server has them. */
  readonly tolerations: readonly Json[];
  /** Those of them that are about to go, or have gone. */
  readonly claims: readonly EndingClaim[];
  readonly tied: TiedToNode | null;
  readonly refusal: string | null;
  /** The update revision that it was read for. */
  readonly revision: string;
  readonly atMilliseconds: number;
}

/** A read-only view of the memory. */
export type Memory = Readonly<ClusterState>;

/**
 * What this process remembers of one cluster between two reconciliations. All of it can be lost: a process without it
 * is slower by a read or a few seconds, but never less safe. Only the files of this folder change it.
 */
export class ClusterState {
  readonly ages: Ages;
  ownWrites: readonly OwnWrite[] = [];
  refusal: Refusal | null = null;
  /** The last update revision seen, and when it appeared on both clocks. `null` if it existed at the start. */
  updateRevision: { readonly value: string; readonly changed: RevisionChange | null } | null = null;
  /** How fast the generation of the StatefulSet grows. */
  specWrites: ContentionMemory['specWrites'] = null;
  /** The partition that this process has set last, and how often. */
  lowered: ContentionMemory['lowered'] = null;
  /** Why MOCO applies the StatefulSet again and again, as read for a generation of the MySQLCluster. */
  altered: ContentionMemory['altered'] = null;
  /** The result that a release would have had, from a dry run. */
  releaseRefusal: { readonly message: string; readonly atMilliseconds: number } | null = null;
  /** What recent dry runs showed about admission. `null` if the last dry run had the expected result. */
  admissionProblem: AdmissionFinding | null = null;
  /** Who keeps the strategy of the StatefulSet, from the last dry run that showed it. */
  strategyKeeper: { readonly keeper: StrategyKeeper; readonly atMilliseconds: number } | null = null;
  /** When this process set the StatefulSet to OnDelete, the newest last, as far as remembered. */
  adoptions: { readonly uid: string; readonly atMilliseconds: readonly number[] } | null = null;
  /** The last step, if it did not happen. Cleared once a step happens. */
  stepFailure: FailedStep | null = null;
  /** The newest FailedCreate message of the StatefulSet, and when it was read. */
  createFailure: { readonly message: string | null; readonly atMilliseconds: number } | null = null;
  /** What replicas said when they were last asked how far they are behind, by the uid of the pod. */
  replicationDelays: ReadonlyMap<string, KnownDelay> = new Map();
  mysql: KnownMysql | null = null;
  /** What was last read about whether members can come back, by the uid of the pod. */
  comebacks: ReadonlyMap<string, KnownComeback> = new Map();
  /** Whether the node of a pod was to be emptied when that was last read, by the uid of the pod. */
  leavingNodes: ReadonlyMap<string, boolean> = new Map();
  /** What updates in place depend on. */
  inPlace: InPlaceReadings = nothingRead;
  /** What the newest rollout changes in the pod template. `null` if it could not be read. */
  template: {
    readonly from: string;
    readonly to: string;
    readonly changes: readonly TemplateChange[] | null;
    readonly atMilliseconds: number;
  } | null = null;
  /** The newest MySQLRollout that this process has written. */
  rollout: MySQLRollout | null = null;
  /** The intent that is known to be settled, done or not. */
  settledIntent: string | null = null;
  /** An unreported result is kept: a later failure without effect does not replace it. */
  finished: Finished | null = null;
  /** The API server's message if its CRD did not know all fields of a status, and whether that status had an intent. */
  statusRefusal: {
    readonly message: string;
    readonly withIntent: boolean;
    readonly atMilliseconds: number;
  } | null = null;
  /** Since when the current rule holds, on the monotonic clock and as a timestamp. */
  holding: { readonly rule: Hold['rule']; readonly sinceMilliseconds: number; readonly since: string } | null = null;
  /**
   * The rollout that was last complete, and when this was first seen. The status may be written later, or begin a newer
   * rollout first.
   */
  completed: { readonly revision: string; readonly at: string } | null = null;
  /** When members were first seen participating at an update revision, by ordinal. The status may be written later. */
  back: { readonly revision: string; readonly at: ReadonlyMap<number, string> } = { revision: '', at: new Map() };
  /** When a rollout was first seen that is not in the status yet. */
  begun: { readonly revision: string; readonly at: string } | null = null;
  /** When the last progress of the rollout was seen, and what was seen then. `null` if the status has it already. */
  moved: { readonly revision: string; readonly seen: string; readonly at: string } | null = null;
  /** When the end of a switchover was first seen. `null` unless the status has it still as requested. */
  switchedOverAt: string | null = null;
  /** The rule of the last Event about a hold. */
  reported: Hold['rule'] | null = null;
  /**
   * When this process disrupted a member, by ordinal, on the monotonic clock. Removed once the member participates
   * again.
   */
  disruptedAtMilliseconds: ReadonlyMap<number, number> = new Map();
  /** Since when the status has unwritten changes, on the monotonic clock. `null` if it has none. */
  changedAtMilliseconds: number | null = null;
  /** A key of the last decision that was logged. */
  logged = '';

  constructor(world: World) {
    this.ages = new Ages(world);
  }
}
