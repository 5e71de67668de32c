import type { Quantities } from '../core/in-place-changes.ts';
import type {
  AskedMemberFacts,
  BackupJobFacts,
  BudgetFacts,
  ClusterFacts,
  ContainerFacts,
  DataRecord,
  MemberFacts,
  StatefulSetFacts,
} from '../core/snapshot.ts';

// The cache keeps only the fields of an object that decisions read. A raw pod is a hundred times larger.

export type Labels = Readonly<Record<string, string>>;

interface ObjectRecord {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** An opaque number, which is compared only in the ways that Kubernetes 1.35 allows (KEP-5504). */
  readonly resourceVersion: string;
}

export interface ClusterRecord
  extends ObjectRecord,
    Omit<ClusterFacts, 'primaryUnavailableForSeconds' | 'primarySettledForSeconds'> {
  readonly labels: Labels;
  /**
   * Whether `spec.backupPolicyName` is set. If so, MOCO maintains a CronJob, from which people can also create Jobs.
   */
  readonly hasBackupPolicy: boolean;
  /** Whether a user has released the cluster. */
  readonly released: boolean;
  /** The managers that have lately written its pod template, the newest first. */
  readonly templateWriters: readonly string[];
  /** Our own condition, or `null` if there is none. */
  readonly rolloutComplete: {
    readonly status: boolean;
    readonly reason: string;
    readonly observedGeneration: number;
  } | null;
}

export interface StatefulSetRecord extends ObjectRecord, StatefulSetFacts {
  /** The MySQLCluster that the object belongs to. */
  readonly clusterName: string;
  readonly generation: number;
  readonly managers: readonly string[];
  /** The managers that have lately written its pod template, the newest first. */
  readonly templateWriters: readonly string[];
  /** The names of the first 64 containers of the StatefulSet's template, including init containers. */
  readonly containers: readonly string[];
}

/** A container, with the times from which its ages are counted if this program has not observed the changes itself. */
export interface ContainerRecord
  extends Omit<ContainerFacts, 'readySinceRestart' | 'restartsInVain' | 'notReadyForSeconds' | 'injected'> {
  /** When the current run started, or `null`. */
  readonly startedAt: string | null;
  /** When the last run ended; `null` if no run has ended, or if that is not reported. */
  readonly finishedAt: string | null;
}

/** What one object shows about a member. Ages are not included, since they need several observations. */
type PodFacts = Omit<
  MemberFacts,
  | 'containers'
  | 'initContainers'
  | 'terminatingForSeconds'
  | 'mysqldIdleForSeconds'
  | 'mysqldStartedForSeconds'
  | 'participatingForSeconds'
  | 'revisionForSeconds'
  | 'demoteForSeconds'
  | 'ofStatefulSet'
  | 'restartInPlace'
  | keyof AskedMemberFacts
>;

/** Everything that updates in place compare, change and wait for. */
export interface LivePod {
  readonly labels: Labels;
  readonly annotations: Labels;
  /**
   * Whether the kubelet has acted on the current spec. Always true for kubelets before Kubernetes 1.35, which do not
   * report this.
   */
  readonly observed: boolean;
  readonly containers: readonly LiveContainer[];
  readonly initContainers: readonly LiveContainer[];
  /** What the kubelet reports about the resize that the spec asks for, or `null`. */
  readonly resize: {
    readonly state: 'Deferred' | 'Infeasible' | 'InProgress' | 'Error';
    readonly message: string;
    readonly since: string | null;
  } | null;
  /** When this program last resized the pod, by the clock of the API server, or `null`. */
  readonly resizedAt: string | null;
}

export interface LiveContainer extends LiveResources {
  readonly name: string;
  /** The image as written in the spec. */
  readonly image: string;
  /** Whether the kubelet asks the registry before each start (`imagePullPolicy: Always`). */
  readonly pulledAlways: boolean;
  /** The id of the container's current run, or `null` before the first run. */
  readonly id: string | null;
}

export interface LiveResources {
  /** The resources as written in the spec. */
  readonly resources: Resources;
  /** The resources that the container runs with, as far as the kubelet reports them. */
  readonly actual: Resources;
  /** The quantities that were last set by a resize of this program. */
  readonly resized: readonly { readonly list: keyof Resources; readonly resource: string }[];
}

export interface Resources {
  readonly limits: Quantities;
  readonly requests: Quantities;
}

export interface PodRecord extends ObjectRecord, PodFacts {
  readonly clusterName: string;
  readonly node: string | null;
  /** The uid of the object that controls the pod, or `null`. */
  readonly controller: string | null;
  readonly labels: Labels;
  readonly createdAt: string;
  /** When the revision label was last set, or a later time; `null` if that cannot be determined. */
  readonly revisionSetAt: string | null;
  /** Whether the kubelet has rejected the pod: the pod has failed, and none of its containers was ever created. */
  readonly rejected: boolean;
  /** The digest to which the container runtime has resolved the image of mysqld; `null` until it has done so. */
  readonly imageId: string | null;
  /** When condition Ready last changed, or `null`. */
  readonly readyChangedAt: string | null;
  readonly containersReadyChangedAt: string | null;
  readonly containers: readonly ContainerRecord[];
  readonly initContainers: readonly ContainerRecord[];
  readonly deletionTimestamp: string | null;
  /** Where the pod's moco-agent listens. A field is `null` if it is unknown or not declared. */
  readonly agent: {
    readonly ip: string | null;
    readonly probePort: number | null;
    readonly metricsPort: number | null;
  };
  /** In the cache, `null` while the feature gate is off. */
  readonly live: LivePod | null;
}

export interface BudgetRecord
  extends ObjectRecord,
    Omit<BudgetFacts, 'ofMoco' | 'awaiting' | 'refusal' | 'refusedForSeconds'> {
  readonly selector: LabelSelector | null;
  /** When the API server accepted the eviction of each pod, by the pod's name. */
  readonly disruptedPods: Readonly<Record<string, string>>;
}

/** An active Job of a backup or a restore, no matter who created it. Its pod runs or will run. */
export interface JobRecord extends ObjectRecord, Omit<BackupJobFacts, 'activeForSeconds'> {
  readonly clusterName: string;
  /** When the Job started or, if it has not started, was created. */
  readonly startedAt: string;
}

/** The claim of a member's data. */
export interface ClaimRecord extends ObjectRecord {
  readonly createdAt: string;
  /** No volume has been provisioned for it or bound to it, and it does not ask for a copy of other data. */
  readonly unbound: boolean;
  /** What this program has recorded about the data, or `null`. */
  readonly data: DataRecord | null;
}

/** Cluster-scoped: its own `namespace` is empty. */
export interface NodeRecord extends ObjectRecord {
  /** Why the node is being taken out of service, in words that follow its name in a sentence, or `null`. */
  readonly leaving: string | null;
}

/** Cluster-scoped: its own `namespace` is empty. */
export interface NamespaceRecord extends ObjectRecord {
  readonly labels: Labels;
}

export interface LabelSelector {
  readonly matchLabels: Labels;
  readonly matchExpressions: readonly {
    readonly key: string;
    readonly operator: string;
    readonly values: readonly string[];
  }[];
}

/** All objects of MOCO and Kubernetes that belong to one cluster. */
export interface ClusterObjects {
  readonly cluster: ClusterRecord;
  readonly statefulSet: StatefulSetRecord | null;
  readonly pods: readonly PodRecord[];
  readonly budgets: readonly BudgetRecord[];
  readonly jobs: readonly JobRecord[];
  /** The API server's message if Jobs can't be read, otherwise `null`. If Jobs can't be read, `jobs` is empty. */
  readonly jobsUnreadable: string | null;
  /**
   * Members' pods that disappeared after their mysqld was killed, as far as this process observed it. Only the cache
   * remembers them.
   */
  readonly killedPods?: readonly Pick<PodRecord, 'ordinal' | 'createdAt'>[];
}

/** The properties by which a MySQLRolloutPolicy selects a MySQLCluster. */
export interface Selectable {
  readonly namespace: string;
  readonly labels: Labels;
  /** The labels of its namespace. `null` while they are unknown or may not be read. */
  readonly namespaceLabels: Labels | null;
}
