import type { MySQLRollout } from '../../api/rollout.ts';
import type { TemplateChange } from '../../api/rollout-status.ts';
import type { Hold } from '../../core/decision.ts';
import type { World } from '../../kube/world.ts';
import { Ages } from '../../moco/ages.ts';
import { nothingRead } from '../facts/in-place-updates.ts';
import type { Known } from '../facts/known.ts';

/** A change of the update revision, on both clocks. */
export interface RevisionChange {
  readonly atMilliseconds: number;
  readonly wallMilliseconds: number;
}

/** A read-only view of the memory. */
export type Memory = Readonly<ClusterState>;

/**
 * What this process remembers of one cluster between two reconciliations. All of it can be lost: a process without it
 * is slower by a read or a few seconds, but never less safe. Only the files of this folder change it.
 */
export class ClusterState implements Known {
  readonly ages: Ages;
  ownWrites: Known['ownWrites'] = [];
  refusal: Known['refusal'] = null;
  /** The last update revision seen, and when it appeared on both clocks. `null` if it existed at the start. */
  updateRevision: { readonly value: string; readonly changed: RevisionChange | null } | null = null;
  /** How fast the generation of the StatefulSet grows. */
  specWrites: Known['specWrites'] = null;
  /** The partition that this process has set last, and how often. */
  lowered: Known['lowered'] = null;
  /** Why MOCO applies the StatefulSet again and again, as read for a generation of the MySQLCluster. */
  altered: Known['altered'] = null;
  /** The result that a release would have had, from a dry run. */
  releaseRefusal: Known['releaseRefusal'] = null;
  /** What recent dry runs showed about admission. `null` if the last dry run had the expected result. */
  admissionProblem: Known['admissionProblem'] = null;
  /** Who keeps the strategy of the StatefulSet, from the last dry run that showed it. */
  strategyKeeper: Known['strategyKeeper'] = null;
  /** When this process set the StatefulSet to OnDelete, the newest last, as far as remembered. */
  adoptions: Known['adoptions'] = null;
  /** The last step, if it did not happen. Cleared once a step happens. */
  stepFailure: Known['stepFailure'] = null;
  /** The newest FailedCreate message of the StatefulSet, and when it was read. */
  createFailure: Known['createFailure'] = null;
  /** What replicas said when they were last asked how far they are behind, by the uid of the pod. */
  replicationDelays: Known['replicationDelays'] = new Map();
  /** What MySQL itself last said. `null` before anybody was asked. */
  mysql: Known['mysql'] = null;
  /** What was last read about whether members can come back, by the uid of the pod. */
  comebacks: Known['comebacks'] = new Map();
  /** Whether the node of a pod was to be emptied when that was last read, by the uid of the pod. */
  leavingNodes: Known['leavingNodes'] = new Map();
  /** What updates in place depend on. */
  inPlace: Known['inPlace'] = nothingRead;
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
  finished: Known['finished'] = null;
  /** The API server's message if its CRD did not know all fields of a status, and whether that status had an intent. */
  statusRefusal: Known['statusRefusal'] = null;
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
  moved: Known['moved'] = null;
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
  /** The overrides that have ended and whose removal was tried. */
  endedOverrides = '';

  constructor(world: World) {
    this.ages = new Ages(world);
  }
}
