// The types of facts that no watch delivers: the answers to questions. "Not asked" and "no answer" are values of them.

/** What Prometheus answered the last time it was asked about a check. */
export type CheckReading =
  | { readonly kind: 'passing' }
  | { readonly kind: 'failing'; readonly series: FailingSeries }
  /** There was no answer, or it is unusable. */
  | { readonly kind: 'unknown'; readonly message: string };

export interface FailingSeries {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: string;
  /** How many more series the answer has. */
  readonly others: number;
  /** The selector that has no series, if a missing series fails the check. */
  readonly missing?: string;
}

/** The last answer to a question that is asked again and again. */
export interface LastReading<Reading> {
  readonly reading: Reading;
  /** Seconds since the answer came. */
  readonly ageSeconds: number;
  /** Seconds since the first of the consecutive unknown answers. 0 if the last one is not unknown. */
  readonly unknownForSeconds: number;
}

/** `null` before the first answer. */
export interface CheckFacts extends LastReading<CheckReading | null> {
  readonly name: string;
}

/** Nothing was asked. This is no answer: no rule may treat it as a yes or a no. */
export interface NotAsked {
  readonly kind: 'notAsked';
}

export const notAsked: NotAsked = { kind: 'notAsked' };

/** What this process has seen of the Lease by which moco-controller elects its leader. */
export interface MocoLease {
  /** `namespace/name`, as the flag has it. */
  readonly lease: string;
  /** `free`: no process holds it. `forbidden`: the controller may not read it, so nothing is known. */
  readonly state: 'held' | 'free' | 'missing' | 'forbidden';
  /** Seconds since it was read. `null` if it was never read; the other fields mean nothing then. */
  readonly ageSeconds: number | null;
  /** An upper bound for the time since the latest renewal that this process knows of. `null` if it knows of none. */
  readonly renewedForSeconds: number | null;
  /** How long a renewal by its holder is valid. */
  readonly durationSeconds: number;
  readonly holder: string;
}

/** The answer of a member itself: of its agent, which asks its mysqld. */
export type MemberAnswer =
  | { readonly kind: 'ready' }
  /** It answers that it does not serve, in its words. */
  | { readonly kind: 'notReady'; readonly message: string }
  /** There was no answer, or no usable one. */
  | { readonly kind: 'unknown'; readonly message: string };

export interface AskedMember extends LastReading<MemberAnswer> {
  /** The uid of its pod. */
  readonly uid: string;
}

/**
 * What was last read about the data that deleting a member's pod would destroy, and about whether another pod can
 * replace it.
 */
export interface Recreatable {
  readonly kind: 'asked';
  readonly ageSeconds: number;
  readonly claims: readonly EndingClaim[];
  /** Why the node that the member is tied to would not accept another pod for it; otherwise `null`. */
  readonly tied: TiedToNode | null;
  /** Why the API server would not admit its next pod, in its words; `null` if it would. */
  readonly refusal: string | null;
}

/** No other node may run the pod, or no node accepts pods. */
export interface TiedToNode {
  readonly nodeName: string;
  /** Ends of a sentence about the node, such as `is cordoned`. At least one. */
  readonly refusals: readonly string[];
  /** What rules other nodes out, such as `the volume pvc-1`. */
  readonly ties: readonly string[];
}

/** A PersistentVolumeClaim of the pod that does not hold the data of its member, or not longer than the pod exists. */
export interface EndingClaim {
  readonly name: string;
  /**
   * - `terminating`: its deletion has been requested, and ends with the pod (kubernetes.io/pvc-protection)
   * - `missing`: it is gone, and the pod still has the volume mounted
   * - `lost`: Kubernetes has found that its PersistentVolume is gone (phase Lost)
   * - `unbound`: it has no PersistentVolume (any phase except Bound)
   * - `replaced`: another claim with that name, created after the pod had started
   * - `volumeMissing`: its PersistentVolume is gone, or belongs to another claim
   * - `volumeTerminating`: its PersistentVolume is being deleted
   */
  readonly state: (typeof claimStates)[number];
}

export const claimStates = [
  'terminating',
  'missing',
  'lost',
  'unbound',
  'replaced',
  'volumeMissing',
  'volumeTerminating',
] as const;

/** For a pod that was just created: its claims exist. */
export const justCreated: Recreatable = { kind: 'asked', ageSeconds: 0, claims: [], tied: null, refusal: null };

/** Older readings allow no step. Everything that can change is read again right before the step. */
export const freshRecreatableSeconds = 60;

/** A reading that grows old changes nothing by itself, so it sets no deadline: it is read once a step needs it. */
export const hasToBeRead = (recreatable: Recreatable | NotAsked): boolean =>
  recreatable.kind === 'notAsked' || !(recreatable.ageSeconds < freshRecreatableSeconds);

export type DelayReading =
  /**
   * How much newer the newest transaction that it has received is, by commit time, than the newest one that it has
   * applied.
   */
  | { readonly kind: 'delay'; readonly seconds: number }
  /** Its agent reports that it does not replicate properly, in these words. */
  | { readonly kind: 'notReplicating'; readonly message: string }
  /** There was no answer, or it is unusable. */
  | { readonly kind: 'unknown'; readonly message: string };

export interface ReplicationDelay extends LastReading<DelayReading> {
  /** The uid of its pod. */
  readonly uid: string;
}

/** Whether a replica copies its data from another member, by its agent. */
export type CloneReading =
  /** The agent runs the clone. `progress` is absent if mysqld was not asked or did not report it. */
  | { readonly kind: 'cloning'; readonly progress?: CloneProgress }
  /**
   * MySQL reports that its last clone has not completed, but the agent runs none: it failed, or the agent restarted.
   */
  | { readonly kind: 'unfinished' }
  | { readonly kind: 'notCloning' }
  /** There was no answer, or it is unusable. */
  | { readonly kind: 'unknown'; readonly message: string };

/** How far a clone is, according to `performance_schema.clone_progress` of the mysqld that receives it. */
export interface CloneProgress {
  /** MySQL's name of the stage, such as `FILE COPY`; empty between two stages. */
  readonly stage: string;
  /** Of all stages together. */
  readonly copiedBytes: number;
  readonly estimatedBytes: number;
}

export interface LastClone extends LastReading<CloneReading> {
  /** For how long the progress has been the same. Only if the progress is known. */
  readonly unchangedForSeconds?: number;
}

/**
 * How long an answer is valid before a step that would end the clone, and how often it is asked again while a clone
 * holds the step.
 */
export const freshCloneSeconds = 5;
export const cloneAgainSeconds = 30;

/**
 * What nodes have found out about the update revision before any member is replaced (setting `preflight`). Only nodes
 * of due members count.
 */
export interface Preflight {
  readonly awaited: readonly AwaitedNode[];
  /** Nodes that would not run the update revision. */
  readonly refusals: readonly NodeRefusal[];
  /** Nodes that had its images, and how long ago they were asked. */
  readonly fetched: readonly { readonly nodeName: string; readonly ageSeconds: number }[];
}

export interface AwaitedNode {
  /** What the node was asked: whether it has the images or, on one node, whether mysqld accepts its configuration. */
  readonly about: 'images' | 'configuration';
  readonly nodeName: string;
  readonly forSeconds: number;
  /** Why its pod does not run yet, in Kubernetes' words, or `null`. */
  readonly message: string | null;
}

export interface NodeRefusal {
  readonly nodeName: string;
  /** The ordinals of the due members that it concerns. */
  readonly members: readonly number[];
  readonly result: 'ImageUnavailable' | 'ConfigurationRefused';
  /** The words of the kubelet, or of mysqld. */
  readonly message: string;
  /** Seconds until it is tried again. 0 while it is being tried. */
  readonly againInSeconds: number;
}

/** How often the pods of a preflight are checked: the longer it has lasted, the less often. */
export const lookAtPodsSeconds = (forSeconds: number): number => (forSeconds < 10 ? 1 : forSeconds < 60 ? 2 : 5);

const firstRetrySeconds = 60;
const longestRetrySeconds = 600;

/** A refusal is retried after as long as it has already lasted: each attempt doubles the wait, up to ten minutes. */
export const retryAfterSeconds = (lastedSeconds: number): number =>
  Math.min(Math.max(lastedSeconds, firstRetrySeconds), longestRetrySeconds);

/** What MySQL itself reported when the members of a cluster were last asked (feature gate `ReplicationFacts`). */
export interface MysqlReading {
  /** `null` if nothing has been asked yet. */
  readonly ageSeconds: number | null;
  /**
   * Why no member can be asked, as a sentence without a full stop, and for how long that has been so. After a while the
   * rules continue without these answers.
   */
  readonly problem: { readonly message: string; readonly forSeconds: number } | null;
  readonly members: readonly MemberReading[];
  /**
   * Open writes of the primary, the oldest first, from its last answer. They stay while it does not answer. `null` if
   * the primary was never asked for them, or never reported them.
   */
  readonly writes: readonly OpenWrite[] | null;
  /** Seconds for which a switchover has waited for open writes. 0 while no switchover waits. */
  readonly waitedForWritesSeconds: number;
  /** The clusters that replicate from this one, as far as members have reported connections from them lately. */
  readonly replicaClusters: readonly ReplicaCluster[];
}

/** A MySQLCluster with `spec.replicationSourceSecretName` whose primary is connected to a member of this cluster. */
export interface ReplicaCluster {
  /** `namespace/name`. */
  readonly cluster: string;
  /** The oldest known version of mysqld among its members, such as `8.4.8`; `null` if none is known. */
  readonly version: string | null;
}

export interface MemberReading extends Pick<ReplicationDelay, 'uid' | 'unknownForSeconds'> {
  readonly said: MemberSaid;
  /**
   * The newest usable answer, whatever came later; `missing` is the newest known number. A fact against a member stands
   * until another answer contradicts it. `null` before the first answer.
   */
  readonly last: Said | null;
}

export type Said = PrimarySaid | ReplicaSaid;

export type MemberSaid =
  | Said
  /** There was no answer, or it is unusable. */
  | { readonly kind: 'unknown'; readonly message: string };

export interface PrimarySaid {
  readonly kind: 'primary';
  /** The acknowledgements that a commit waits for: ⌊replicas/2⌋ in MOCO. 0 without semi-synchronous replication. */
  readonly needed: number;
  /**
   * Replicas that are connected to acknowledge its commits. A disconnected replica counts until the primary notices; an
   * idle primary notices at its next commit (seen with MySQL 8.4).
   */
  readonly acknowledging: number;
}

export interface ReplicaSaid {
  readonly kind: 'replica';
  /**
   * Transactions that the primary had committed when it was asked and that this replica had not received. `null` if the
   * primary did not report them.
   */
  readonly missing: number | null;
  /** Transactions that it had received but not applied. */
  readonly unapplied: number;
  /** Its receiver is connected with semi-synchronous replication, or was before it began to reconnect. */
  readonly semiSync: boolean;
  readonly receiver: ThreadState;
  readonly applier: ThreadState;
}

export interface ThreadState {
  readonly runs: boolean;
  /** The number of this thread's last MySQL error. 0 without one. */
  readonly error: number;
}

/** At most this many of them are queried. */
export const mostWrites = 20;

/** A session of the primary that a switchover would cut off. */
export interface OpenWrite {
  /** MySQL's id of the connection. */
  readonly session: number;
  readonly user: string;
  readonly host: string;
  readonly ageSeconds: number;
  /** When it began. For people. */
  readonly since: string;
  /** `client`: no statement runs, but the transaction is open. `null` if the session is not waiting. */
  readonly waitsFor: 'rowLock' | 'metadataLock' | 'acknowledgement' | 'client' | null;
}
