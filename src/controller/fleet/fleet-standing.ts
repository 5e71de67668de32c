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
  /** Its rollout has begun, or a preflight is checking whether it can begin. */
  readonly rolling: boolean;
  /** The revision that it is rolling out; `null` if none. */
  readonly revision: string | null;
  /** Nodes refuse its revision, and its rollout has not begun. */
  readonly refused: boolean;
  /** Its rollout has begun, so it no longer waits for other clusters. */
  readonly begun: boolean;
  /** The revision fails, or a rollout that has begun is stalled for other reasons than its nodes. */
  readonly failing: boolean;
  /** No member has verified the revision of its rollout yet, if it has one. */
  readonly unverified: boolean;
  /** When the revision of its rollout, or of its last complete rollout, was known to be verified, on the wall clock. */
  readonly verifiedAt: number | null;
  /** Its status shows a hold of a MySQLRolloutSequence: when it was written, a sequence selected the cluster. */
  readonly isHeldBySequence: boolean;
  /** The cluster is rolling and cannot continue without a person. */
  readonly stalled: boolean;
  /** When a rollout that has not begun was first seen, on the wall clock; otherwise `null`. */
  readonly waitingSince: number | null;
  /** The same for a rollout that has not begun, or that has given up its slot. This decides the place in queues. */
  readonly queuedSince: number | null;
  /**
   * Why a cluster that occupies a slot cannot continue until a person acts: the name of a rule, or the reason of
   * condition `Stalled`; otherwise `null`.
   */
  readonly stuckBy: string | null;
  /** Whether the cluster waits for a slot and, as far as is known, for nothing else. */
  readonly wantsSlot: boolean;
  /** Whether the cluster waits for other clusters and, as far as is known, for nothing else. */
  readonly wantsTurn: boolean;
  /** The revision at which the cluster is complete and healthy, and since when, in Unix seconds. */
  readonly complete: { readonly revision: string; readonly since: number } | null;
  /** A step with an intent that has not ended. */
  readonly open: TimedStep | null;
}

/** A cluster that has no MySQLRollout yet: it is unknown whether it is stale. */
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
  /** On the wall clock, in milliseconds. */
  readonly at: number;
}

/** What is known of a step. Earlier versions did not record its effects: such a step counts as having all of them. */
export type KnownStep = Pick<Intent, 'step' | 'effects'>;

/** The step needs a slot. Replacing members that are down needs none, nor does a release. */
export const takesSlot = ({ effects }: KnownStep): boolean => effects === undefined || needsSlot(effects);

/** Intervals are counted from such a step: a mysqld stops, or containers of a running pod restart. */
export const disrupts = ({ effects }: KnownStep): boolean =>
  effects === undefined ||
  effects.includes('stops') ||
  (effects.includes('changesInPlace') && effects.includes('reduces'));

export const lowers = ({ step }: KnownStep): boolean => step === 'setPartition';

/** Waits of a cluster that occupies a slot, or takes one as soon as it is free. */
const slotWaits: ReadonlySet<string> = new Set<HoldRule>([
  'AwaitingFleetSlot',
  'AwaitingFleetInterval',
  'DisruptionControllerBehind',
]);

/** `past` replaces a time that is in the future by this clock with when it was first seen. In milliseconds. */
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
 * Whether the rollout of the revision no longer waits for other clusters. A correction of a failing one never waits.
 */
export const hasBegun = (
  one: Pick<FleetStanding, 'revision' | 'begun' | 'failing'> | undefined,
  revision: string,
): boolean => one !== undefined && (one.revision === revision ? one.begun : one.failing);

/**
 * Rules under which a rollout gives up its slot even if members are missing: their pods are gone on purpose, or another
 * controller replaces them. This program has nothing in progress there, and otherwise the slot might never be released.
 */
const slotReleasingRules: ReadonlySet<HoldRule> = new Set(['Offline', 'Released', 'ForcedRollingUpdate']);

/**
 * Whether a rollout that has begun gives up its slot while the rule holds it: it has nothing in progress, and the wait
 * may be long. It needs another slot before its next step. Waits that are part of every step keep the slot.
 */
export function yieldsSlot(rule: HoldRule, members: RolloutStatus['members']): boolean {
  if (slotReleasingRules.has(rule)) return true;
  if (slotWaits.has(rule) || isBrief(rule) || isRoutine(rule)) return false;
  if (!isRequestedByUser(rule) && !isEndedByPerson(rule)) return false;
  return (members ?? []).every(({ state }) => state === 'participating');
}

/** The hold of a MySQLRolloutSequence that selects the cluster. */
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
 * A rollout occupies its slot from its preflight, or its first disruption, to its end, except while it has given it up.
 * A rollout that could not use a slot does not wait for one.
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
    // A rule that only a person ends is more informative than the wait for a node, except for pods that their kubelets
    // do not end.
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
