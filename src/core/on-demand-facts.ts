/** What Prometheus said about a check when it was asked. */
export type CheckReading =
  | { readonly kind: 'passing' }
  | { readonly kind: 'failing'; readonly series: FailingSeries }
  /** It could not be asked, or the answer is unusable. */
  | { readonly kind: 'unknown'; readonly message: string };

export interface FailingSeries {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: string;
  /** How many other series the answer has. */
  readonly others: number;
  /** Instead of a series: the selector that has none, where that fails the check. */
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

/** Nobody was asked. It is no answer: no rule may take it for a yes or for a no. */
export interface NotAsked {
  readonly kind: 'notAsked';
}

export const notAsked: NotAsked = { kind: 'notAsked' };

/** What this process has seen of the Lease by which moco-controller elects its leader. */
export interface MocoLease {
  /** `namespace/name`. */
  readonly lease: string;
  /** `free`: no process holds it. `forbidden`: it may not be read, so that nothing is known. */
  readonly state: 'held' | 'free' | 'missing' | 'forbidden';
  /** Since it was read. `null` if it never was; the rest then means nothing. */
  readonly ageSeconds: number | null;
  /** How long ago the latest renewal that this process knows of was made, at most. `null` if it knows of none. */
  readonly renewedForSeconds: number | null;
  /** Within which its holder has to renew it. */
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
 * What was last read about the data that deleting a member's pod would destroy, and about whether another pod can take
 * its place.
 */
export interface Recreatable {
  readonly kind: 'asked';
  readonly ageSeconds: number;
  readonly claims: readonly EndingClaim[];
  /** Why the member's node, to which it is tied, would not take another pod of it; otherwise `null`. */
  readonly tied: TiedToNode | null;
  /** Why the API server would not admit its next pod, in its words; `null` if it would. */
  readonly refusal: string | null;
}

/** No other node may take the pod, or no node accepts pods. */
export interface TiedToNode {
  readonly nodeName: string;
  /** Ends of a sentence about the node, such as `is cordoned`. At least one. */
  readonly refusals: readonly string[];
  /** What rules other nodes out, such as `the volume pvc-1`. */
  readonly ties: readonly string[];
}

/** A PersistentVolumeClaim of the pod that does not keep the data of its member, or not for longer than the pod. */
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

/** An older reading allows no step. Right before the step, everything that can change is read again. */
export const freshRecreatableSeconds = 60;

/** A reading that becomes old changes nothing by itself, so it sets no deadline: it is read once a step needs it. */
export const hasToBeRead = (recreatable: Recreatable | NotAsked): boolean =>
  recreatable.kind === 'notAsked' || !(recreatable.ageSeconds < freshRecreatableSeconds);

export type DelayReading =
  /**
   * By how much the commit time of the newest transaction that it has received is ahead of that of the newest one that
   * it has applied.
   */
  | { readonly kind: 'delay'; readonly seconds: number }
  /** Its agent reports that it does not replicate properly, in these words. */
  | { readonly kind: 'notReplicating'; readonly message: string }
  /** It could not be asked, or the answer is unusable. */
  | { readonly kind: 'unknown'; readonly message: string };

export interface ReplicationDelay extends LastReading<DelayReading> {
  /** The uid of its pod. */
  readonly uid: string;
}

/** Whether a replica copies its data from another member, by its agent. */
export type CloneReading =
  /** The agent runs the clone. */
  | { readonly kind: 'cloning' }
  /** MySQL says that its last clone has not completed, and the agent runs none: it failed, or the agent restarted. */
  | { readonly kind: 'unfinished' }
  | { readonly kind: 'notCloning' }
  /** It could not be asked, or the answer can't be used. */
  | { readonly kind: 'unknown'; readonly message: string };

/** An answer counts for as long before a step that ends the clone, and while one holds it is asked again that often. */
export const freshCloneSeconds = 5;
export const cloneAgainSeconds = 30;

/**
 * What nodes have found out about the update revision before a member is taken (setting `preflight`). Only nodes with a
 * due member count.
 */
export interface Preflight {
  readonly awaited: readonly AwaitedNode[];
  /** Nodes that would not run the update revision. */
  readonly refusals: readonly NodeRefusal[];
  /** Nodes that had its images, and how long ago they were asked. */
  readonly fetched: readonly { readonly nodeName: string; readonly ageSeconds: number }[];
}

export interface AwaitedNode {
  /** Every node is asked whether it has the images, and one of them whether mysqld accepts its configuration. */
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

/** How often the pods of a preflight are checked: the shorter it has lasted, the sooner. */
export const lookAtPodsSeconds = (forSeconds: number): number => (forSeconds < 10 ? 1 : forSeconds < 60 ? 2 : 5);

const firstRetrySeconds = 60;
const longestRetrySeconds = 600;

/** A refusal is tried again after as long as it has lasted: every try doubles the time, up to ten minutes. */
export const retryAfterSeconds = (lastedSeconds: number): number =>
  Math.min(Math.max(lastedSeconds, firstRetrySeconds), longestRetrySeconds);

/** What MySQL itself said when the members of a cluster were last asked (feature gate `ReplicationFacts`). */
export interface MysqlReading {
  /** `null` if nobody has been asked yet. */
  readonly ageSeconds: number | null;
  /**
   * Why no member can be asked, as a sentence without a full stop, and for how long that has been so. Once it has
   * lasted, the rules do without.
   */
  readonly problem: { readonly message: string; readonly forSeconds: number } | null;
  readonly members: readonly MemberReading[];
  /**
   * Open writes of the primary, the oldest first, in its last answer, which stays while it does not answer. `null` if
   * it was never asked for them, or never said.
   */
  readonly writes: readonly OpenWrite[] | null;
  /** Seconds for which a switchover has waited for open writes. 0 while none waits. */
  readonly waitedForWritesSeconds: number;
}

export interface MemberReading extends Pick<ReplicationDelay, 'uid' | 'unknownForSeconds'> {
  readonly said: MemberSaid;
  /**
   * The newest usable answer, whatever came since; `missing` is the newest known number. What counts against a member
   * stands until another answer contradicts it. `null` before the first answer.
   */
  readonly last: Said | null;
}

export type Said = PrimarySaid | ReplicaSaid;

export type MemberSaid =
  | Said
  /** It could not be asked, or the answer is unusable. */
  | { readonly kind: 'unknown'; readonly message: string };

export interface PrimarySaid {
  readonly kind: 'primary';
  /** Acknowledgements that a commit waits for: ⌊replicas/2⌋ in MOCO. 0 without semi-synchronous replication. */
  readonly needed: number;
  /**
   * Replicas that have connected to acknowledge its commits. A disconnected one counts until the primary notices, on an
   * idle primary at its next commit (seen with MySQL 8.4).
   */
  readonly acknowledging: number;
}

export interface ReplicaSaid {
  readonly kind: 'replica';
  /**
   * Transactions that the primary had committed when it was asked and that this replica had not received. `null` if the
   * primary did not say.
   */
  readonly missing: number | null;
  /** Transactions that it had received but not applied. */
  readonly unapplied: number;
  /** Its receiver connected with semi-synchronous replication. It may be reconnecting now. */
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
  /** MySQL's number of the connection. */
  readonly session: number;
  readonly user: string;
  readonly host: string;
  readonly ageSeconds: number;
  /** When it began. For people. */
  readonly since: string;
  /** `client`: no statement runs, and the transaction is open. `null` if it is not waiting. */
  readonly waitsFor: 'rowLock' | 'metadataLock' | 'acknowledgement' | 'client' | null;
}
