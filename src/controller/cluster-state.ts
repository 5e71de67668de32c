import type { Hold } from '../core/decision.ts';
import type { StepFailure } from '../core/snapshot.ts';
import type { World } from '../kube/world.ts';
import { Ages } from '../moco/ages.ts';
import type { Remembered } from './fields-not-kept.ts';
import type { OwnWrite } from './own-writes.ts';
import type { LastStep, MySQLRollout, RolloutStatus, TemplateChange } from './rollout-resource.ts';

/** How a step ended. `unknown` when it may or may not have happened. */
export type StepResult = 'done' | 'refused' | 'conflict' | 'unknown';

/** A step whose result the status doesn't carry yet. */
export interface Finished {
  readonly lastStep: LastStep;
  readonly result: StepResult;
  /** The update revision that it was for. */
  readonly revision: string;
  /** Members taken away by it. */
  readonly disrupted: number;
  /** A demotion was asked for, or taken back: because its time was over, which is a try that failed, or for another reason. */
  readonly demotion:
    | { readonly askedAt: string; readonly pod: { name: string; uid: string } }
    | 'timedOut'
    | 'takenBack'
    | null;
}

/** What ended last, unless the status has it already: the answer to a write of it may have been lost. */
export function untold({ lastStep }: RolloutStatus, { finished }: ClusterState): Finished | null {
  return finished?.lastStep.at === lastStep?.at && finished?.lastStep.step === lastStep?.step ? null : finished;
}

/** How soon what the status does not say yet is to be written: a step's own course waits, and numbers wait longest. */
export type Urgency = 'now' | 'course' | 'numbers';

/** Since when there has been something that is as urgent, on the monotonic clock. */
export interface Unpublished {
  readonly urgency: Urgency;
  readonly sinceMilliseconds: number;
}

export interface RevisionChange {
  readonly atMilliseconds: number;
  readonly wallMilliseconds: number;
}

/** A dry run that came back otherwise than it has to. */
export interface AdmissionFinding {
  readonly mode: 'OnDelete' | 'Partition';
  readonly finding: string;
  readonly tries: number;
  readonly atMilliseconds: number;
}

/** The API server's refusal to evict; believed as long as the budgets stay as they were. */
export interface Refusal {
  readonly message: string;
  readonly atMilliseconds: number;
  /** resourceVersions of the budgets then, by name. */
  readonly budgets: ReadonlyMap<string, string>;
}

/** A step that failed, as the core knows it, but for its age. */
export type FailedStep = Omit<StepFailure, 'sinceLastTrySeconds'> & { readonly atMilliseconds: number };

/**
 * What this process remembers of one cluster between two passes. Everything here can be lost: a process that starts
 * without it is slower by a read or a few seconds, never less safe.
 */
export class ClusterState {
  readonly ages: Ages;
  ownWrites: readonly OwnWrite[] = [];
  refusal: Refusal | null = null;
  /** The update revision that was seen last, and when it came on both clocks; `null` where it was there at the start. */
  updateRevision: { readonly value: string; readonly came: RevisionChange | null } | null = null;
  /** What a hand-back that was only tried would have come to. */
  handBackRefusal: { readonly message: string; readonly atMilliseconds: number } | null = null;
  /** What dry runs have shown about admission, the last so many in a row; `null` where the last one was right. */
  admissionProblem: AdmissionFinding | null = null;
  /** When this process has put the StatefulSet at OnDelete, the newest last, as far as they are remembered. */
  adoptions: { readonly uid: string; readonly atMilliseconds: readonly number[] } | null = null;
  /** The last step, if it did not happen; until one does. */
  stepFailure: FailedStep | null = null;
  /** The StatefulSet's newest FailedCreate sentence, and when it was asked for. */
  createFailure: { readonly message: string | null; readonly atMilliseconds: number } | null = null;
  /** What the newest rollout changes in the pod template; `null` where it could not be read then. */
  template: {
    readonly from: string;
    readonly to: string;
    readonly changes: readonly TemplateChange[] | null;
    readonly atMilliseconds: number;
  } | null = null;
  /** The newest MySQLRollout that this process has written. */
  rollout: MySQLRollout | null = null;
  /** The intent that is known to be over, done or not. */
  settledIntent: string | null = null;
  /** What isn't told yet is worth more than a failure after it that has changed nothing. */
  finished: Finished | null = null;
  /** What the API server has left out of a status that was written, and when it was last looked whether it still does. */
  notKept: { readonly fields: readonly string[]; readonly sent: Remembered; readonly atMilliseconds: number } | null =
    null;
  /** Since when the present rule holds: on the monotonic clock, and as a timestamp. */
  holding: { readonly rule: Hold['rule']; readonly sinceMilliseconds: number; readonly since: string } | null = null;
  /** When a rollout was first seen complete; `null` while none is. The status may tell it later. */
  completeSince: string | null = null;
  /** When members were first seen back at an update revision, by ordinal. The status may tell it later. */
  back: { readonly revision: string; readonly at: Map<number, string> } = { revision: '', at: new Map() };
  /**
   * When a rollout was last seen to move, where the status does not tell it yet, and what was seen then; `null` where
   * it tells the newest.
   */
  moved: { readonly revision: string; readonly seen: string; readonly at: string } | null = null;
  /** The rule of the last Event about a hold. */
  announced: Hold['rule'] | null = null;
  /** When this process took a member, by ordinal, on the monotonic clock; until it takes part again. */
  readonly takenAtMilliseconds = new Map<number, number>();
  publishedAtMilliseconds = Number.NEGATIVE_INFINITY;
  unpublished: Unpublished | null = null;
  /** The last decision that was logged, in a word or two. */
  logged = '';

  constructor(world: World) {
    this.ages = new Ages(world);
  }
}
