import type { MySQLRollout } from '../../api/rollout.ts';
import { type Intent, isTrue, type RolloutStatus } from '../../api/rollout-status.ts';
import { milliseconds } from '../../base/json.ts';
import type { HoldRule } from '../../core/decision.ts';
import { needsSlot } from '../../core/gates.ts';
import { isForOthers, isRequestedByUser, keepsTurn, rulesOf } from '../../core/rules/catalogue.ts';

export interface FleetStanding {
  readonly uid: string;
  readonly resourceVersion: string;
  /** Its rollout has begun, or nodes are asked whether it can begin. */
  readonly rolling: boolean;
  /** The revision of its rollout; `null` without one. */
  readonly revision: string | null;
  /** Nodes refuse its revision, and its rollout has not begun. */
  readonly refused: boolean;
  /** Its rollout has begun. It waits for no other cluster any more. */
  readonly begun: boolean;
  /** The revision fails, or a rollout that has begun is stalled. */
  readonly failing: boolean;
  /** No member has verified the revision of its rollout yet, as far as there is one. */
  readonly unverified: boolean;
  /**
   * When the revision of its rollout, or of the last one that is complete, was known to be verified, on the wall clock.
   */
  readonly verifiedAt: number | null;
  /** A rule holds the rollout that its user has requested, such as a pause. */
  readonly keptByUser: boolean;
  /** The cluster is rolling and cannot continue without a person. */
  readonly stalled: boolean;
  /** When a rollout was first seen that has not begun, on the wall clock; otherwise `null`. */
  readonly waitingSince: number | null;
  /** Whether the cluster waits for a slot and, as far as is known, for nothing else. */
  readonly wantsSlot: boolean;
  /** Whether the cluster waits for other clusters and, as far as is known, for nothing else. */
  readonly wantsTurn: boolean;
  /** The revision at which the cluster is complete and healthy, and since when, in Unix seconds. */
  readonly complete: { readonly revision: string; readonly since: number } | null;
  /** A step with an intent that has not ended. */
  readonly open: TimedStep | null;
}

/** A cluster that has no MySQLRollout yet: whether it is stale is not known. */
export const withoutRollout: Omit<FleetStanding, 'uid' | 'resourceVersion' | 'open'> = {
  revision: null,
  rolling: false,
  refused: false,
  begun: false,
  failing: false,
  unverified: true,
  verifiedAt: null,
  keptByUser: false,
  stalled: false,
  waitingSince: null,
  wantsSlot: false,
  wantsTurn: false,
  complete: null,
};

export interface TimedStep {
  readonly step: KnownStep;
  /** On the wall clock, in milliseconds. */
  readonly at: number;
}

/** What is known of a step. Without its effects, which a version before this one did not record, it has them all. */
export type KnownStep = Pick<Intent, 'step' | 'effects'>;

/** It needs a slot. Replacing members that are down needs none, nor does a release. */
export const takesSlot = ({ effects }: KnownStep): boolean => effects === undefined || needsSlot(effects);

/** Intervals are counted from it: a mysqld ends, or containers of a running pod restart. */
export const disrupts = ({ effects }: KnownStep): boolean =>
  effects === undefined ||
  effects.includes('stops') ||
  (effects.includes('changesInPlace') && effects.includes('reduces'));

export const lowers = ({ step }: KnownStep): boolean => step === 'setPartition';

/** Waits that end when other clusters get on, or when an interval is over. */
const slotWaits: ReadonlySet<string> = new Set<HoldRule>([
  'AwaitingFleetSlot',
  'AwaitingFleetInterval',
  'DisruptionControllerBehind',
]);

export function fleetStandingOf({ metadata: { uid, resourceVersion }, status = {} }: MySQLRollout): FleetStanding {
  const { intent } = status;
  const at = milliseconds(intent?.at ?? null);
  const open = intent && at !== null ? { step: intent, at } : null;
  return { uid, resourceVersion, open, ...standing(status) };
}

/**
 * Whether the rollout to the revision waits for no other cluster any more. A correction of a failing one never does.
 */
export const hasBegun = (
  one: Pick<FleetStanding, 'revision' | 'begun' | 'failing'> | undefined,
  revision: string,
): boolean => one !== undefined && (one.revision === revision ? one.begun : one.failing);

/**
 * Rules under which a rollout gives up its slot, even if members are missing: the pods are gone on purpose, or another
 * controller replaces them. This program has nothing in progress there, and the slot might never be released
 * otherwise.
 */
const slotReleasingRules: ReadonlySet<HoldRule> = new Set(['Offline', 'Released', 'ForcedRollingUpdate']);

const refusals: ReadonlySet<string> = new Set(rulesOf('refused'));

/**
 * A rollout occupies its slot from its preflight, or its first disruption, to its end, except while a user keeps it
 * waiting with every member participating. A rollout that could not proceed with a slot does not block others.
 */
function standing({
  rollout,
  hold,
  members,
  conditions,
  updateRevision,
  completeSince,
  history,
}: RolloutStatus): Omit<FleetStanding, 'uid' | 'resourceVersion' | 'open'> {
  const since = milliseconds(completeSince ?? null);
  const last = history?.at(-1);
  const idle = {
    ...withoutRollout,
    revision: rollout?.revision ?? null,
    failing: rollout?.failing !== undefined,
    unverified: rollout?.verified !== true,
    verifiedAt: milliseconds(rollout?.verifiedAt ?? (last?.outcome === 'Complete' ? last.finishedAt : null)),
    complete: since === null || updateRevision === undefined ? null : { revision: updateRevision, since: since / 1000 },
  };
  if (!rollout) return idle;
  const rule = hold?.rule;
  if (rollout.begunAt !== undefined) {
    const rolling = !isKeptWaiting(rule, members);
    const stalled = rolling && isTrue(conditions, 'Stalled');
    const keptByUser = isKeptByUser(rule);
    return { ...idle, begun: true, rolling, keptByUser, stalled, failing: idle.failing || stalled };
  }
  const waitingSince = milliseconds(rollout.startedAt);
  const refused = rule !== undefined && refusals.has(rule);
  if (keepsTurn(rule)) return { ...idle, waitingSince, rolling: true, stalled: refused, refused };
  const wantsSlot = rule === undefined || slotWaits.has(rule);
  const wantsTurn = rule === undefined || isForOthers(rule) || slotWaits.has(rule);
  return { ...idle, waitingSince, wantsSlot, wantsTurn };
}

const isKeptByUser = (rule: HoldRule | undefined): rule is HoldRule =>
  rule !== undefined && isRequestedByUser(rule) && !slotWaits.has(rule);

function isKeptWaiting(rule: HoldRule | undefined, members: RolloutStatus['members']): boolean {
  if (!isKeptByUser(rule)) return false;
  return slotReleasingRules.has(rule) || (members ?? []).every(({ state }) => state === 'participating');
}
