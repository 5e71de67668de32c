import type { HoldRule, StepKind } from '../core/decision.ts';
import type { MaxUnavailable } from '../core/policy.ts';
import type { RolloutProblem } from '../core/snapshot.ts';
import { clusterKind } from '../moco/names.ts';

// MySQLRollout (moco-rollout.io/v1alpha1): the user's wishes in `spec`, what is known in `status`. The controller makes
// a missing one, never touches `spec`, and replaces `status` as a whole with its resourceVersion as precondition.

export const rolloutKind = {
  group: 'moco-rollout.io',
  version: 'v1alpha1',
  plural: 'mysqlrollouts',
  kind: 'MySQLRollout',
  namespaced: true,
} as const;

export interface MySQLRollout {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly namespace: string;
    readonly name: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly generation?: number;
    readonly deletionTimestamp?: string;
    readonly finalizers?: readonly string[];
    readonly ownerReferences?: readonly { readonly kind: string; readonly name?: string; readonly uid: string }[];
  };
  readonly spec?: RolloutSpec;
  readonly status?: RolloutStatus;
}

/** Who replaces pods: this program, or the StatefulSet's own rolling update, one partition after another. */
export type Strategy = 'OnDelete' | 'Partition';

/** What can be wished for one cluster and, in a MySQLRolloutPolicy, for many. What is left out is not wished. */
export interface CommonWishes {
  readonly strategy?: Strategy;
  readonly paused?: boolean;
  readonly repairWhilePaused?: boolean;
  readonly maxUnavailable?: MaxUnavailable;
  readonly partition?: number;
  readonly minReadySeconds?: number;
  readonly progressDeadlineSeconds?: number;
  readonly switchoverTimeoutSeconds?: number;
  readonly failoverGraceSeconds?: number;
  readonly primaryUpdatePolicy?: 'Automatic' | 'Manual';
}

export interface RolloutSpec extends CommonWishes {
  /** The update revision whose primary may go, under `primaryUpdatePolicy: Manual` or after switchovers that failed. */
  readonly approvedRevision?: string;
  readonly heldMembers?: readonly HeldMember[];
  readonly overrides?: readonly RequestedOverride[];
}

export interface HeldMember {
  readonly ordinal: number;
  readonly reason: string;
}

/** One rule that is to be off until a moment, RFC 3339. */
export interface RequestedOverride {
  readonly rule: HoldRule;
  readonly until: string;
  readonly reason: string;
}

/**
 * Whether it is this very MySQLCluster's. One that an earlier cluster of the same name has left behind is about to be
 * collected, and what it remembers is of other members. Without an owner it is the user's own, and stays.
 */
export function isOwnOf({ uid }: { readonly uid: string }, { metadata }: MySQLRollout): boolean {
  const owners = metadata.ownerReferences?.filter(({ kind }) => kind === clusterKind.kind) ?? [];
  return owners.length === 0 || owners.some((owner) => owner.uid === uid);
}

/** Why nothing of a MySQLRollout can be followed or written down, or `null`. */
export function rolloutProblem(
  cluster: { readonly uid: string; readonly deleting: boolean },
  rollout: MySQLRollout | null,
): RolloutProblem | null {
  if (rollout === null || cluster.deleting) return null;
  const { deletionTimestamp, finalizers = [], ownerReferences = [] } = rollout.metadata;
  if (deletionTimestamp !== undefined) return { kind: 'terminating', finalizers };
  if (isOwnOf(cluster, rollout)) return null;
  const owner = ownerReferences.find(({ kind }) => kind === clusterKind.kind);
  return { kind: 'notOwned', owner: `${owner?.name ?? 'without a name'} (uid ${owner?.uid})` };
}

/** Timestamps are RFC 3339 in UTC. */
export interface RolloutStatus {
  readonly observedGeneration?: number;
  readonly observedClusterGeneration?: number;
  readonly phase?: string;
  readonly strategy?: string;
  readonly updateRevision?: string;
  readonly currentRevision?: string;
  readonly replicas?: number;
  readonly updatedReplicas?: number;
  readonly participatingReplicas?: number;
  readonly readyReplicas?: number;
  readonly currentReplicas?: number;
  readonly primary?: number;
  readonly hold?: { readonly rule: string; readonly message: string; readonly since: string };
  /** By ordinal. */
  readonly members?: Readonly<Record<string, MemberStatus>>;
  readonly intent?: Intent;
  readonly lastStep?: LastStep;
  readonly rollout?: RolloutProgress;
  /** Newest last: each update revision when it came. */
  readonly recentRevisions?: readonly { readonly revision: string; readonly firstSeenAt: string }[];
  readonly lastCompleted?: CompletedRollout;
  /** The rollouts that ended, the newest last; at most 10. */
  readonly history?: readonly HistoryEntry[];
  /** What is in force, by the name of the field in `spec`. */
  readonly effectivePolicy?: Readonly<Record<string, EffectiveWish>>;
  readonly handedBack?: HandedBack;
  /** The current revision that a hand-back replaces, and by which, until it has been seen to stay. */
  readonly promotion?: { readonly from: string; readonly to: string };
  readonly conditions?: readonly Condition[];
}

export interface MemberStatus {
  readonly role: string;
  readonly revision?: string;
  readonly updated: boolean;
  readonly state: string;
  readonly verdict: string;
  readonly rule?: string;
  readonly message?: string;
  /** When it was first seen to participate at the update revision. */
  readonly updatedAt?: string;
}

/** A value in force: a word as it is, anything else as JSON. */
export interface EffectiveWish {
  readonly value: string;
  /** `MySQLRollout`, `MySQLRolloutPolicy/<name>`, `flag --<name>` or `default`. */
  readonly source: string;
}

/** A person has taken the cluster back. It holds until a spec of a later generation asks for OnDelete. */
export interface HandedBack {
  /** The MySQLRollout's `metadata.generation` then. */
  readonly generation: number;
  readonly at: string;
  /** Who did it, in a word or two. */
  readonly from?: string;
  /** The update revision then. */
  readonly revision?: string;
}

/** A disruption that is about to be done: whoever finds it makes it void before doing anything else. */
export interface Intent {
  readonly id: string;
  /** The process that wrote it. */
  readonly holder: string;
  readonly step: StepKind;
  readonly rule: string;
  readonly revision: string;
  readonly at: string;
  readonly pods: readonly IntendedObject[];
  /** Of a setPartition: the partition, and the StatefulSet that gets it. */
  readonly partition?: number;
  readonly statefulSet?: IntendedObject;
}

/** An object as it was when a write to it was written down. */
export interface IntendedObject {
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
}

export interface LastStep {
  readonly step: StepKind;
  readonly rule: string;
  readonly pods: readonly string[];
  readonly at: string;
  readonly result: string;
}

/** The rollout of one update revision, from its first stale member until none is stale. */
export interface RolloutProgress {
  readonly revision: string;
  readonly startedAt: string;
  readonly lastProgressAt: string;
  /** When the first step was written down that needs a slot of the fleet. */
  readonly begunAt?: string;
  readonly proven: boolean;
  /** Ordinals that were down already when they were taken. */
  readonly takenDown: readonly number[];
  readonly disruptions: number;
  readonly switchovers: number;
  readonly tries?: SwitchoverTries;
  /** Ordinals that are stale and that no step has taken. Absent while not every member that goes goes by a step. */
  readonly waiting?: readonly number[];
  /** Ordinals that came up at the revision without a step: a crash, a drain, somebody's hand. */
  readonly updatedOutOfTurn?: readonly number[];
  /** By ordinal: when the step was written down that took the member, until it takes part again. */
  readonly takenAt?: Readonly<Record<string, string>>;
  /** By ordinal: how many seconds the member was away for this rollout. */
  readonly memberSeconds?: Readonly<Record<string, number>>;
  /** The revision that most members were at when it began. */
  readonly from?: string;
  /** What it changes in the pod template, from the revision `from`; absent where that is not known. */
  readonly changes?: readonly TemplateChange[];
}

export interface SwitchoverTries {
  /** Demotions that were taken back. */
  readonly count: number;
  readonly lastEndedAt?: string;
  /** When the demotion that is under way was asked for. */
  readonly askedAt?: string;
  readonly pod?: { readonly name: string; readonly uid: string };
}

export interface CompletedRollout {
  readonly revision: string;
  readonly startedAt: string;
  readonly finishedAt: string;
  readonly disruptions: number;
  readonly switchovers: number;
  readonly outcome: string;
}

export interface HistoryEntry extends CompletedRollout {
  /** By ordinal: how many seconds the member was away for it. */
  readonly memberSeconds?: Readonly<Record<string, number>>;
  /** Ordinals that came up at the revision without a step. */
  readonly updatedOutOfTurn?: readonly number[];
  /** The revision that most members were at when it began. */
  readonly from?: string;
  /** What it changed in the pod template. Values are given of images alone: others may hold secrets. */
  readonly changes?: readonly TemplateChange[];
}

export interface TemplateChange {
  /** Of the field, such as `spec.containers[mysqld].image`. */
  readonly path: string;
  readonly from?: string;
  readonly to?: string;
}

export interface Condition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
  readonly lastTransitionTime: string;
  readonly observedGeneration?: number;
}
