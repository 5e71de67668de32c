import { type InPlaceSettings, neverInPlace } from './in-place-changes.ts';

// The user's settings as the core sees them, and the budget that follows from them.

/** A whole number of members, or a percentage of them that is rounded down, as in KEP-961. */
export type MaxUnavailable = number | `${number}%`;

/** The user's settings for one cluster, each already resolved. */
export interface RolloutPolicy {
  /**
   * Who deletes pods. In `OnDelete` this program does (feature gate `UpdateStrategyOnDelete`). In `Partition` the
   * StatefulSet controller does, and this program lowers the partition. In `MOCO` MOCO lowers it, and this program only
   * reports.
   */
  readonly mode: 'OnDelete' | 'Partition' | 'MOCO';
  readonly paused: boolean;
  /** The field and object that set the pause, for people. */
  readonly pausedBy?: string;
  readonly repairWhilePaused: boolean;
  /** Members that may be unavailable at once, for any reason. At least 1, never more than ⌊replicas/2⌋. */
  readonly maxUnavailable: MaxUnavailable;
  readonly partition: number;
  readonly minReadySeconds: number;
  readonly progressDeadlineSeconds: number;
  readonly switchoverTimeoutSeconds: number;
  readonly failoverGraceSeconds: number;
  /** A replica with this delay or more is too far behind for a switchover. */
  readonly maxReplicaDelaySeconds: number;
  /** How long a switchover waits for a delay that cannot be read. */
  readonly replicaDelayGraceSeconds: number;
  /**
   * How long a step waits for a member that does not answer although its pod is ready. Longer than a dead node can look
   * alive.
   */
  readonly silentMemberGraceSeconds: number;
  readonly longWriteGraceSeconds: number;
  /** What happens after that. */
  readonly longWritePolicy: 'Proceed' | 'Hold';
  /**
   * What short-lived pods find out on the nodes of due members before the first member is replaced: whether the images
   * of the update revision are there or can be fetched and, on one node, whether its mysqld accepts the configuration.
   */
  readonly preflight: 'Never' | 'Nodes' | 'NodesAndConfiguration';
  readonly preflightTimeoutSeconds: number;
  readonly primaryUpdatePolicy: 'Automatic' | 'Manual';
  /** The update revision whose primary a person has approved, or `null`. */
  readonly approvedRevision: string | null;
  /** Ordinals that keep their revision until the user unpins them. */
  readonly pinnedOrdinals: readonly number[];
  /**
   * The revision at which a stale member comes back if somebody else deletes its pod after the revision was verified
   * and while nothing holds the rollout. Before that the member always keeps its revision.
   */
  readonly lostMembers: 'UpdateOnceVerified' | 'KeepRevision';
  /** Members that a person wants back at their previous revision, and the update revision that they have to leave. */
  readonly restore: { readonly revision: string; readonly ordinals: readonly number[] } | null;
  readonly overrides: readonly Override[];
  readonly inPlaceUpdates: InPlaceSettings;
}

export interface Override {
  readonly rule: string;
  /** Seconds until the override ends. 0 or less: it has ended. */
  readonly remainingSeconds: number;
  /** Seconds until the override begins. Absent if it has begun. */
  readonly startsInSeconds?: number;
}

/** The minimum and maximum of settings that also have a flag. */
export const boundsOf = {
  minReadySeconds: [0, 3600],
  replicaDelayGraceSeconds: [0, 86_400],
  silentMemberGraceSeconds: [0, 86_400],
} as const;

/**
 * `minReadySeconds` is the value of MOCO's own partition controller. `silentMemberGraceSeconds` is the sum of
 * Kubernetes' node-monitor-grace-period (50 s), the minute between two looks of MOCO, and 10 s for a look.
 */
export const defaultPolicy: RolloutPolicy = {
  mode: 'OnDelete',
  paused: false,
  repairWhilePaused: false,
  maxUnavailable: 1,
  partition: 0,
  minReadySeconds: 5,
  progressDeadlineSeconds: 600,
  switchoverTimeoutSeconds: 90,
  failoverGraceSeconds: 180,
  maxReplicaDelaySeconds: 1,
  replicaDelayGraceSeconds: 30,
  silentMemberGraceSeconds: 120,
  longWriteGraceSeconds: 60,
  longWritePolicy: 'Proceed',
  preflight: 'Never',
  preflightTimeoutSeconds: 300,
  primaryUpdatePolicy: 'Automatic',
  approvedRevision: null,
  pinnedOrdinals: [],
  lostMembers: 'UpdateOnceVerified',
  restore: null,
  overrides: [],
  inPlaceUpdates: neverInPlace,
};

/** A whole number that is not negative, or such a number with a percent sign: Kubernetes' int-or-string. */
export function isReadable(maxUnavailable: MaxUnavailable): boolean {
  return typeof maxUnavailable === 'number'
    ? Number.isInteger(maxUnavailable) && maxUnavailable >= 0
    : /^\d+%$/.test(maxUnavailable);
}

/**
 * How many members may be unavailable at once: KEP-961's number or percentage, rounded down. At least 1, at most the
 * members from the partition up, and never so many that fewer than ⌊replicas/2⌋ + 1 remain. An invalid value counts as
 * 1.
 */
export function budgetOf(maxUnavailable: MaxUnavailable, replicas: number, partition: number): number {
  const wanted =
    typeof maxUnavailable === 'number' ? maxUnavailable : (replicas * Number.parseFloat(maxUnavailable)) / 100;
  const bounded = Math.min(Math.floor(wanted), replicas - partition, Math.floor(replicas / 2));
  return bounded >= 1 ? bounded : 1;
}
