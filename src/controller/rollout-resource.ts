import type { StepKind } from '../core/decision.ts';
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
    readonly ownerReferences?: readonly { readonly kind: string; readonly uid: string }[];
  };
  readonly spec?: RolloutSpec;
  readonly status?: RolloutStatus;
}

export interface RolloutSpec {
  readonly paused?: boolean;
  readonly partition?: number;
  readonly minReadySeconds?: number;
}

/**
 * Whether it is this very MySQLCluster's. One that an earlier cluster of the same name has left behind is about to be
 * collected, and what it remembers is of other members. Without an owner it is the user's own, and stays.
 */
export function isOwnOf({ uid }: { readonly uid: string }, { metadata }: MySQLRollout): boolean {
  const owners = metadata.ownerReferences?.filter(({ kind }) => kind === clusterKind.kind) ?? [];
  return owners.length === 0 || owners.some((owner) => owner.uid === uid);
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
  readonly pods: readonly IntendedPod[];
}

export interface IntendedPod {
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
  readonly proven: boolean;
  /** Ordinals that were down already when they were taken. */
  readonly takenDown: readonly number[];
  readonly disruptions: number;
  readonly switchovers: number;
  readonly tries?: SwitchoverTries;
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

export interface Condition {
  readonly type: string;
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message: string;
  readonly lastTransitionTime: string;
  readonly observedGeneration?: number;
}
