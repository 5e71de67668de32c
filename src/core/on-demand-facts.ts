// The types of facts that no watch delivers: the answers to questions. The types distinguish "not asked" from "no
// answer".

/** What Prometheus answered when it was last asked about a check. */
export type CheckReading =
  | { readonly kind: 'passing' }
  | { readonly kind: 'failing'; readonly series: FailingSeries }
  /** There was no answer, or it is unusable. */
  | { readonly kind: 'unknown'; readonly message: string };

export interface FailingSeries {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: string;
  /** How many further series the answer contains. */
  readonly others: number;
  /** If the check fails because a series is missing: the selector that matches no series. */
  readonly missing?: string;
}

/** The last answer to a question that is asked repeatedly. */
export interface LastReading<Reading> {
  readonly reading: Reading;
  /** Seconds since the answer came. */
  readonly ageSeconds: number;
  /** Seconds since the first of the consecutive unknown answers. 0 if the last answer is usable. */
  readonly unknownForSeconds: number;
}

/** `null` before the first answer. */
export interface CheckFacts extends LastReading<CheckReading | null> {
  readonly name: string;
}

/** The question has not been asked yet. Rules must not treat that as a yes or a no. */
export interface NotAsked {
  readonly kind: 'notAsked';
}

export const notAsked: NotAsked = { kind: 'notAsked' };

/** What this process knows about the Lease with which moco-controller elects its leader. */
export interface MocoLease {
  /** The Lease as `namespace/name`, according to the flags. */
  readonly lease: string;
  /** `free`: no process holds the Lease. `forbidden`: the controller may not read it, so nothing is known. */
  readonly state: 'held' | 'free' | 'missing' | 'forbidden';
  /** Seconds since the Lease was read. `null` if it was never read; the other fields then have no meaning. */
  readonly ageSeconds: number | null;
  /** An upper bound for the time since the latest known renewal. `null` if no renewal is known. */
  readonly renewedForSeconds: number | null;
  /** How long a renewal by its holder is valid. */
  readonly durationSeconds: number;
  readonly holder: string;
}

/** What a member itself answers: its agent asks its mysqld and reports the result. */
export type MemberAnswer =
  | { readonly kind: 'ready' }
  /** The agent reports that mysqld does not serve, with this message. */
  | { readonly kind: 'notReady'; readonly message: string }
  /** There was no answer, or it is unusable. */
  | { readonly kind: 'unknown'; readonly message: string };

export interface AskedMember extends LastReading<MemberAnswer> {
  /** The uid of the member's pod. */
  readonly uid: string;
}

/**
 * The last reading about the data that would be lost if a member's pod were deleted, and about whether another pod can
 * replace the deleted one.
 */
export interface Recreatable {
  readonly kind: 'asked';
  readonly ageSeconds: number;
  readonly claims: readonly EndingClaim[];
  /** Why the only node that could run the member's next pod would not accept it; `null` if nothing prevents that. */
  readonly tied: TiedToNode | null;
  /** Why it is unknown which nodes can run the member's next pod; `null` if that is known or does not matter. */
  readonly unjudged: UnjudgedPlacement | null;
  /** The API server's message if it would not admit the member's next pod; `null` if it would. */
  readonly refusal: string | null;
}

/**
 * The next pod of a member would stay Pending: its node refuses the pod, and no other node can run it or accepts pods.
 */
export interface TiedToNode {
  readonly nodeName: string;
  /**
   * Why the node refuses the pod, as phrases that complete a sentence about the node, such as `is cordoned`. There is
   * at least one.
   */
  readonly refusals: readonly string[];
  /** What rules other nodes out, such as `the volume pvc-1`. */
  readonly ties: readonly string[];
}

/** The next pod of a member has too many constraints of one kind to compare them with every node. */
export interface UnjudgedPlacement {
  /** The kind of constraint and its place, as words that can follow a number, such as `tolerations in the pod`. */
  readonly what: string;
  readonly most: number;
  readonly got: number;
}

/**
 * A PersistentVolumeClaim of the pod that does not keep its member's data, or keeps them only until the pod is gone.
 */
export interface EndingClaim {
  readonly name: string;
  /**
   * - `terminating`: the deletion of the claim is requested, and completes once the pod is gone
   * (kubernetes.io/pvc-protection)
   * - `missing`: the claim is gone, but the pod still has the volume mounted
   * - `lost`: Kubernetes has found that the claim's PersistentVolume is gone (phase Lost)
   * - `unbound`: the claim has no PersistentVolume (any phase except Bound)
   * - `replaced`: after the pod had started, another claim of the same name was created
   * - `volumeMissing`: the claim's PersistentVolume is gone, or belongs to a different claim
   * - `volumeTerminating`: the claim's PersistentVolume is being deleted
   * - `unread`: the pod mounts too many claims to read them, so it is unknown whether they keep their data
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
  'unread',
] as const;

/** Facts about the claims of a pod that was just created: all claims exist. */
export const justCreated: Recreatable = {
  kind: 'asked',
  ageSeconds: 0,
  claims: [],
  tied: null,
  unjudged: null,
  refusal: null,
};

/** How many claims of a member are read. MOCO's own templates have one, and people add a handful. */
export const mostClaims = 32;

/** A reading older than this permits no step. Facts that can change are read again right before the step. */
export const freshRecreatableSeconds = 60;

/**
 * A reading that becomes too old does not change the decision, so it sets no deadline. It is renewed only when a step
 * needs it.
 */
export const hasToBeRead = (recreatable: Recreatable | NotAsked): boolean =>
  recreatable.kind === 'notAsked' || !(recreatable.ageSeconds < freshRecreatableSeconds);

export type DelayReading =
  /**
   * The delay, by commit time, between the newest transaction that the replica has received and the newest one that it
   * has applied.
   */
  | { readonly kind: 'delay'; readonly seconds: number }
  /** The agent of the replica reports that the replica does not replicate properly, with this message. */
  | { readonly kind: 'notReplicating'; readonly message: string }
  /** There was no answer, or it is unusable. */
  | { readonly kind: 'unknown'; readonly message: string };

export interface ReplicationDelay extends LastReading<DelayReading> {
  /** The uid of the replica's pod. */
  readonly uid: string;
}

/** Whether a replica is copying its data from another member, according to its agent. */
export type CloneReading =
  /** The agent runs the clone. `progress` is absent if mysqld was not asked or did not report it. */
  | { readonly kind: 'cloning'; readonly progress?: CloneProgress }
  /**
   * MySQL reports that its last clone has not completed, but the agent is not running a clone. Either the clone failed,
   * or the agent restarted.
   */
  | { readonly kind: 'unfinished' }
  | { readonly kind: 'notCloning' }
  /** There was no answer, or it is unusable. */
  | { readonly kind: 'unknown'; readonly message: string };

/** The progress of a clone, according to `performance_schema.clone_progress` on the replica that receives the data. */
export interface CloneProgress {
  /** MySQL's name for the stage, such as `FILE COPY`; empty between two stages. */
  readonly stage: string;
  /** The bytes of all stages together. */
  readonly copiedBytes: number;
  readonly estimatedBytes: number;
}

export interface LastClone extends LastReading<CloneReading> {
  /** For how long the progress has been the same. Absent if the progress is unknown. */
  readonly unchangedForSeconds?: number;
}

/**
 * How long an answer is valid for a step that would interrupt a clone, and how often the question is asked again while
 * a clone blocks the step.
 */
export const freshCloneSeconds = 5;
export const cloneAgainSeconds = 30;

/**
 * What nodes have reported about the update revision before any member is replaced (setting `preflight`). Only nodes of
 * due members count.
 */
export interface Preflight {
  readonly awaited: readonly AwaitedNode[];
  /** Nodes that would not run the update revision. */
  readonly refusals: readonly NodeRefusal[];
  /** Nodes that already had the images when they were asked, and the time since then. */
  readonly fetched: readonly { readonly nodeName: string; readonly ageSeconds: number }[];
  /**
   * The version that the mysqld of the update revision has reported on a node, such as `8.4.8`; `null` if it has not.
   */
  readonly mysqldVersion: string | null;
}

export interface AwaitedNode {
  /** What the node checks: whether it has the images or, on one node, whether mysqld accepts its configuration. */
  readonly about: 'images' | 'configuration';
  readonly nodeName: string;
  readonly forSeconds: number;
  /** Why the pod on the node does not run yet, according to Kubernetes; otherwise `null`. */
  readonly message: string | null;
}

export interface NodeRefusal {
  readonly nodeName: string;
  /** The ordinals of the due members on that node. */
  readonly members: readonly number[];
  readonly result: 'ImageUnavailable' | 'ConfigurationRefused';
  /** The message of the kubelet, or of mysqld. */
  readonly message: string;
  /** Seconds until the node tries again. 0 while it is trying. */
  readonly againInSeconds: number;
}

/**
 * How often the pods of a preflight are checked. The longer the preflight lasts, the longer the time between two
 * checks.
 */
export const lookAtPodsSeconds = (forSeconds: number): number => (forSeconds < 10 ? 1 : forSeconds < 60 ? 2 : 5);

const firstRetrySeconds = 60;
const longestRetrySeconds = 600;

/**
 * A node that refuses the revision is asked again after as long as the refusal has already lasted. So the wait doubles
 * with each attempt, up to ten minutes.
 */
export const retryAfterSeconds = (lastedSeconds: number): number =>
  Math.min(Math.max(lastedSeconds, firstRetrySeconds), longestRetrySeconds);

/** What MySQL itself reported when the members of a cluster were last asked (feature gate `ReplicationFacts`). */
export interface MysqlReading {
  /** `null` if nothing has been asked yet. */
  readonly ageSeconds: number | null;
  /**
   * Why no member can be asked, as a sentence without a full stop, and for how long that has been so. After a while the
   * rules do without these answers.
   */
  readonly problem: { readonly message: string; readonly forSeconds: number } | null;
  readonly members: readonly MemberReading[];
  /**
   * Open writes of the primary, the oldest first, from its last answer. They are kept while the primary does not
   * answer. `null` if the primary has never answered that question.
   */
  readonly writes: readonly OpenWrite[] | null;
  /** Seconds for which a switchover has waited for open writes. 0 while no switchover waits. */
  readonly waitedForWritesSeconds: number;
  /** The clusters that replicate from this one, according to the connections that members have reported lately. */
  readonly replicaClusters: readonly ReplicaCluster[];
}

/** A MySQLCluster with `spec.replicationSourceSecretName` whose primary is connected to a member of this cluster. */
export interface ReplicaCluster {
  /** `namespace/name`; `null` for a cluster of another namespace. */
  readonly cluster: string | null;
  /** The oldest known version of mysqld among its members, such as `8.4.8`; `null` if none is known. */
  readonly version: string | null;
}

export interface MemberReading extends Pick<ReplicationDelay, 'uid' | 'unknownForSeconds'> {
  readonly said: MemberSaid;
  /**
   * The newest usable answer, even if unusable answers followed. `missing` comes from the newest answer that contained
   * it. A fact that counts against a member keeps counting until a later answer contradicts it. `null` before the first
   * answer.
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
  /** How many acknowledgements a commit waits for: ⌊replicas/2⌋ in MOCO. 0 without semi-synchronous replication. */
  readonly needed: number;
  /**
   * How many replicas are connected to acknowledge the primary's commits. A disconnected replica counts until the
   * primary notices that, and an idle primary notices only at its next commit (seen with MySQL 8.4).
   */
  readonly acknowledging: number;
}

export interface ReplicaSaid {
  readonly kind: 'replica';
  /**
   * How many of the transactions that the primary had committed when it was asked were missing on this replica. `null`
   * if the primary did not report its transactions.
   */
  readonly missing: number | null;
  /** How many transactions the replica had received but not applied. */
  readonly unapplied: number;
  /**
   * The receiver of the replica is connected with semi-synchronous replication, or was before it began to reconnect.
   */
  readonly semiSync: boolean;
  readonly receiver: ThreadState;
  readonly applier: ThreadState;
}

export interface ThreadState {
  readonly runs: boolean;
  /** MySQL's number of the last error of this thread. 0 if there was none. */
  readonly error: number;
}

/** At most this many open writes are read from the primary. */
export const mostWrites = 20;

/** A session of the primary that a switchover would cut off. */
export interface OpenWrite {
  /** MySQL's id of the connection. */
  readonly session: number;
  readonly user: string;
  readonly host: string;
  readonly ageSeconds: number;
  /** When the transaction began. Shown to people. */
  readonly since: string;
  /**
   * What the session is waiting for. `client`: no statement is running, but the transaction is open. `null` if it is
   * not waiting.
   */
  readonly waitsFor: 'rowLock' | 'metadataLock' | 'acknowledgement' | 'client' | null;
}
