import { type InPlaceSettings, neverInPlace } from './in-place-changes.ts';

// The user's settings as the core sees them, and the budget that follows from them.

/** A number of members, or a percentage of them that is rounded down as in KEP-961. */
export type MaxUnavailable = number | `${number}%`;

/** The user's settings for one cluster, with defaults filled in. */
export interface RolloutPolicy {
  /**
   * Which program replaces the pods. In `OnDelete` mode this program deletes them (feature gate
   * `UpdateStrategyOnDelete`). In `Partition` mode the StatefulSet controller deletes them, and this program lowers the
   * partition. In `MOCO` mode MOCO lowers the partition, and this program only reports.
   */
  readonly mode: 'OnDelete' | 'Partition' | 'MOCO';
  readonly paused: boolean;
  /** The field and the object that set the pause, as text for people. */
  readonly pausedBy?: string;
  /** Details of the pause. Absent if there is no pause, or if no details are known. */
  readonly pause?: Pause;
  readonly repairWhilePaused: boolean;
  /** How many members may be unavailable at once, for any reason. At least 1, never more than ⌊replicas/2⌋. */
  readonly maxUnavailable: MaxUnavailable;
  readonly partition: number;
  readonly minReadySeconds: number;
  readonly progressDeadlineSeconds: number;
  readonly switchoverTimeoutSeconds: number;
  readonly failoverGraceSeconds: number;
  /** A replica with this delay or more is too far behind for a switchover. */
  readonly maxReplicaDelaySeconds: number;
  /** How long a switchover waits for a replica with a delay that cannot be read. */
  readonly replicaDelayGraceSeconds: number;
  /**
   * How long a step waits for a member that does not answer although its pod is ready. A dead node cannot appear to be
   * alive for that long.
   */
  readonly silentMemberGraceSeconds: number;
  readonly longWriteGraceSeconds: number;
  /** What happens once `longWriteGraceSeconds` is over. */
  readonly longWritePolicy: 'Proceed' | 'Hold';
  /**
   * What short-lived pods check on the nodes of due members before the first member is replaced. They check whether the
   * images of the update revision are present or can be fetched and, on one node, whether the mysqld of that revision
   * accepts the configuration.
   */
  readonly preflight: 'Never' | 'Nodes' | 'NodesAndConfiguration';
  readonly preflightTimeoutSeconds: number;
  /**
   * What happens to members on nodes that are being taken out of service. `Switchover` moves the primary to a member on
   * a different node; `Evacuate` also evicts replicas, one at a time.
   */
  readonly nodeMaintenance: 'Ignore' | 'Switchover' | 'Evacuate';
  /** Whether working members on other nodes are updated while nodes are being taken out of service. */
  readonly rolloutsDuringMaintenance: 'Proceed' | 'Wait';
  readonly primaryUpdatePolicy: 'Automatic' | 'Manual';
  /** The revision for which a person has approved updating the primary, or `null`. */
  readonly approvedRevision: string | null;
  /** Ordinals of members that keep their revision until the user unpins them. */
  readonly pinnedOrdinals: readonly number[];
  /**
   * At which revision a stale member comes back if another program or a person deletes its pod. The setting only
   * matters while nothing holds the rollout and the update revision is verified. Otherwise the member always keeps its
   * revision.
   */
  readonly lostMembers: 'UpdateOnceVerified' | 'KeepRevision';
  /**
   * Members that a person wants back at their previous revision. `revision` is the update revision that they have to
   * leave.
   */
  readonly restore: { readonly revision: string; readonly ordinals: readonly number[] } | null;
  readonly overrides: readonly Override[];
  readonly inPlaceUpdates: InPlaceSettings;
}

/** Why the rollout is paused, who paused it, and until when. For people. */
export interface Pause {
  readonly reason?: string;
  readonly author?: string;
  /** When the pause ends by itself, and in how many seconds. */
  readonly until?: string;
  readonly remainingSeconds?: number;
}

export interface Override {
  readonly rule: string;
  /** Seconds until the override ends. If this is 0 or less, it has ended. */
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
 * Kubernetes' node-monitor-grace-period (50 s), the minute between two checks by MOCO, and 10 s for a check.
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
  nodeMaintenance: 'Ignore',
  rolloutsDuringMaintenance: 'Proceed',
  primaryUpdatePolicy: 'Automatic',
  approvedRevision: null,
  pinnedOrdinals: [],
  lostMembers: 'UpdateOnceVerified',
  restore: null,
  overrides: [],
  inPlaceUpdates: neverInPlace,
};

/**
 * Whether the value is one of Kubernetes' int-or-string values: a whole number from 0, or such a number with a percent
 * sign.
 */
export function isReadable(maxUnavailable: MaxUnavailable): boolean {
  return typeof maxUnavailable === 'number'
    ? Number.isInteger(maxUnavailable) && maxUnavailable >= 0
    : /^\d+%$/.test(maxUnavailable);
}

/**
 * How many members may be unavailable at once: the number, or the percentage rounded down as in KEP-961. The result is
 * at least 1, and at most the number of members from the partition up. It always leaves at least ⌊replicas/2⌋ + 1
 * members. An invalid value counts as 1.
 */
export function budgetOf(maxUnavailable: MaxUnavailable, replicas: number, partition: number): number {
  const wanted =
    typeof maxUnavailable === 'number' ? maxUnavailable : (replicas * Number.parseFloat(maxUnavailable)) / 100;
  const bounded = Math.min(Math.floor(wanted), replicas - partition, Math.floor(replicas / 2));
  return bounded >= 1 ? bounded : 1;
}
