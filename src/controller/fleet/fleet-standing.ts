import type { MySQLRollout } from '../../api/rollout.ts';
import { type Intent, isTrue, type RolloutStatus } from '../../api/rollout-status.ts';
import { milliseconds } from '../../base/json.ts';
import type { HoldRule } from '../../core/decision.ts';
import { needsSlot } from '../../core/gates.ts';
import {
  isAlarming,
  isBrief,
  isEndedByPerson,
  isForOthers,
  isRequestedByUser,
  isRoutine,
  keepsTurn,
  rulesOf,
} from '../../core/rules/catalogue.ts';

// What the status of one cluster means for other clusters.

export interface FleetStanding {
  readonly uid: string;
  readonly resourceVersion: string;
  /** The rollout has begun, or a preflight is checking whether it can. */
  readonly rolling: boolean;
  /** The revision that is being rolled out; `null` if none. */
  readonly revision: string | null;
  /** Nodes refuse the revision, and the rollout has not begun. */
  readonly refused: boolean;
  /** The rollout has begun, so it no longer waits for other clusters. */
  readonly begun: boolean;
  /** The revision is failing, or a rollout that has begun is stalled for a reason other than its nodes. */
  readonly failing: boolean;
  /** There is a rollout, and no member has verified its revision yet. */
  readonly unverified: boolean;
  /**
   * When the revision was first known to work, on the wall clock. The revision is that of the current rollout or, if
   * there is none, of the last complete one.
   */
  readonly verifiedAt: number | null;
  /**
   * The status shows a hold of a MySQLRolloutSequence, so a sequence selected the cluster when the status was written.
   */
  readonly isHeldBySequence: boolean;
  /** The cluster is rolling out and cannot continue until a person acts. */
  readonly stalled: boolean;
  /** When a rollout that has not begun was first seen, on the wall clock; otherwise `null`. */
  readonly waitingSince: number | null;
  /**
   * Like `waitingSince`, but also set for a rollout that has given up its slot. This time determines the place in
   * queues.
   */
  readonly queuedSince: number | null;
  /**
   * If the cluster occupies a slot and cannot continue until a person acts: the name of the rule that holds it, or the
   * reason of its condition `Stalled`. Otherwise `null`.
   */
  readonly stuckBy: string | null;
  /** Whether the cluster waits for a slot, and the status shows no other reason to wait. */
  readonly wantsSlot: boolean;
  /** Whether the cluster waits for other clusters, and the status shows no other reason to wait. */
  readonly wantsTurn: boolean;
  /** The revision at which the cluster is complete and healthy, and since when, in Unix seconds. Otherwise `null`. */
  readonly complete: { readonly revision: string; readonly since: number } | null;
  /** A step with an intent that is not settled yet. */
  readonly open: TimedStep | null;
}

/** The standing of a cluster that has no MySQLRollout yet. Whether its members are stale is unknown. */
export const withoutRollout: Omit<FleetStanding, 'uid' | 'resourceVersion' | 'open'> = {
  revision: null,
  rolling: false,
  refused: false,
  begun: false,
  failing: false,
  unverified: true,
  verifiedAt: null,
  isHeldBySequence: false,
  stalled: false,
  waitingSince: null,
  queuedSince: null,
  stuckBy: null,
  wantsSlot: false,
  wantsTurn: false,
  complete: null,
};

export interface TimedStep {
  readonly step: KnownStep;
  /** The time of the step, on the wall clock in milliseconds. */
  readonly at: number;
}

/**
 * What is known about a step. Earlier versions did not record effects. A step without recorded effects counts as having
 * all of them.
 */
export type KnownStep = Pick<Intent, 'step' | 'effects'>;

/** Whether the step needs a slot. A release needs none, and neither does the replacement of a broken member. */
export const takesSlot = ({ effects }: KnownStep): boolean => effects === undefined || needsSlot(effects);

/** Whether intervals count from this step: it stops a mysqld or restarts containers of a running pod. */
export const disrupts = ({ effects }: KnownStep): boolean =>
  effects === undefined ||
  effects.includes('stops') ||
  (effects.includes('changesInPlace') && effects.includes('reduces'));

export const lowers = ({ step }: KnownStep): boolean => step === 'setPartition';

/** Under these rules the cluster occupies a slot, or takes one as soon as one is free. */
const slotWaits: ReadonlySet<string> = new Set<HoldRule>([
  'AwaitingFleetSlot',
  'AwaitingFleetInterval',
  'DisruptionControllerBehind',
]);

/**
 * `past` takes a time in milliseconds. If that time is later than this process's clock, it returns when the time was
 * first seen.
 */
export function fleetStandingOf(
  { metadata: { uid, resourceVersion }, status = {} }: MySQLRollout,
  past: (at: number) => number,
): FleetStanding {
  const { intent } = status;
  const timeOf = (timestamp: string | null | undefined): number | null => {
    const at = milliseconds(timestamp ?? null);
    return at === null ? null : past(at);
  };
  const at = timeOf(intent?.at);
  const open = intent && at !== null ? { step: intent, at } : null;
  return { uid, resourceVersion, open, ...standing(status, timeOf) };
}

/**
 * Whether the rollout to this revision no longer waits for other clusters. A rollout that corrects a failing revision
 * never waits.
 */
export const hasBegun = (
  one: Pick<FleetStanding, 'revision' | 'begun' | 'failing'> | undefined,
  revision: string,
): boolean => one !== undefined && (one.revision === revision ? one.begun : one.failing);

/**
 * Under these rules a rollout gives up its slot even if members are missing: their pods are gone on purpose, or a
 * different controller replaces them. This program then has nothing in progress in the cluster, and the slot might
 * otherwise never become free.
 */
const slotReleasingRules: ReadonlySet<HoldRule> = new Set(['Offline', 'Released', 'ForcedRollingUpdate']);

/**
 * Whether a rollout that has begun gives up its slot while this rule holds the rollout. A rollout gives up its slot if
 * nothing is in progress and the wait may be long. It then needs a new slot before its next step. It keeps the slot
 * during the waits that are part of every step.
 */
export function yieldsSlot(rule: HoldRule, members: RolloutStatus['members']): boolean {
  if (slotReleasingRules.has(rule)) return true;
  if (slotWaits.has(rule) || isBrief(rule) || isRoutine(rule)) return false;
  if (!isRequestedByUser(rule) && !isEndedByPerson(rule)) return false;
  return (members ?? []).every(({ state }) => state === 'participating');
}

/** Rules of a MySQLRolloutSequence that selects the cluster. */
const holdsOfSequences: ReadonlySet<string> = new Set<HoldRule>([
  'SequenceGone',
  'SequenceConflict',
  'SequenceInvalid',
  'StageFailing',
  'StageMemberGone',
  'AwaitingEarlierStage',
  'AwaitingSoak',
  'AwaitingSettle',
  'AwaitingStageSlot',
]);

const refusals: ReadonlySet<string> = new Set(rulesOf('refused'));

function stuckBy(rule: HoldRule | undefined, isStalled: boolean): string | null {
  if (rule === undefined) return isStalled ? 'ProgressDeadlineExceeded' : null;
  return isStalled || (isEndedByPerson(rule) && !isRoutine(rule)) ? rule : null;
}

/**
 * A rollout occupies a slot from its preflight or its first disruption until it ends, except while it has given up the
 * slot. A rollout that could not use a slot does not queue for one.
 */
function standing(
  { rollout, hold, conditions, updateRevision, completeSince, history }: RolloutStatus,
  timeOf: (timestamp: string | null | undefined) => number | null,
): Omit<FleetStanding, 'uid' | 'resourceVersion' | 'open'> {
  const since = timeOf(completeSince);
  const last = history?.at(-1);
  const idle = {
    ...withoutRollout,
    revision: rollout?.revision ?? null,
    failing: rollout?.failing !== undefined,
    unverified: rollout?.verified !== true,
    isHeldBySequence: holdsOfSequences.has(hold?.rule ?? ''),
    verifiedAt: timeOf(rollout?.verifiedAt ?? (last?.outcome === 'Complete' ? last.finishedAt : null)),
    complete: since === null || updateRevision === undefined ? null : { revision: updateRevision, since: since / 1000 },
  };
  if (!rollout) return idle;
  const rule = hold?.rule;
  const startedAt = timeOf(rollout.startedAt);
  const wantsSlot = rule === undefined || slotWaits.has(rule);
  const wantsTurn = rule === undefined || isForOthers(rule) || slotWaits.has(rule);
  if (rollout.begunAt !== undefined) {
    const isStalled = isTrue(conditions, 'Stalled');
    // A stall is attributed to nodes only if no rule requires a person. The exception is `MemberStuckTerminating`,
    // because a kubelet that does not end a pod causes it.
    const isByNode = rollout.awaitsNodes === true && (rule === 'MemberStuckTerminating' || !isAlarming(rule ?? ''));
    const begun = { ...idle, begun: true, failing: idle.failing || (isStalled && !isByNode) };
    if (rollout.yieldedAt !== undefined) return { ...begun, queuedSince: startedAt, wantsSlot, wantsTurn };
    return { ...begun, rolling: true, stalled: isStalled, stuckBy: stuckBy(rule, isStalled) };
  }
  const refused = rule !== undefined && refusals.has(rule);
  const waits = { waitingSince: startedAt, queuedSince: startedAt };
  if (!keepsTurn(rule)) return { ...idle, ...waits, wantsSlot, wantsTurn };
  return { ...idle, ...waits, rolling: true, stalled: refused, refused, stuckBy: refused ? (rule ?? null) : null };
}
