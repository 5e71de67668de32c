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

// The fields of an object that the cache keeps: those that a decision reads. A raw pod is a hundred times larger.

export type Labels = Readonly<Record<string, string>>;

interface ObjectRecord {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** An opaque number. It is compared only as Kubernetes 1.35 allows (KEP-5504). */
  readonly resourceVersion: string;
}

export interface ClusterRecord
  extends ObjectRecord,
    Omit<ClusterFacts, 'primaryUnavailableForSeconds' | 'primarySettledForSeconds'> {
  readonly labels: Labels;
  /** `spec.backupPolicyName` is set: MOCO keeps a CronJob, from which people also create Jobs. */
  readonly hasBackupPolicy: boolean;
  /** A user has released it. */
  readonly released: boolean;
  /** Who has written its pod template lately, the newest first. */
  readonly templateWriters: readonly string[];
  /** Our own condition, or `null` if there is none. */
  readonly rolloutComplete: {
    readonly status: boolean;
    readonly reason: string;
    readonly observedGeneration: number;
  } | null;
}

export interface StatefulSetRecord extends ObjectRecord, StatefulSetFacts {
  /** The MySQLCluster it belongs to. */
  readonly clusterName: string;
  readonly generation: number;
  readonly managers: readonly string[];
  /** Who has written its pod template lately, the newest first. */
  readonly templateWriters: readonly string[];
  /** The names of the containers of its template, init containers included. */
  readonly containers: readonly string[];
}

/** A container, with the times from which its ages are counted if this program has not observed the changes. */
export interface ContainerRecord
  extends Omit<ContainerFacts, 'readySinceRestart' | 'restartsInVain' | 'notReadyForSeconds' | 'injected'> {
  /** When the current run started, or `null`. */
  readonly startedAt: string | null;
  /** When the last run ended; `null` if it has not, or if that is not reported. */
  readonly finishedAt: string | null;
}

/** What one object shows about a member. Ages need several observations. */
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

/** What updates in place compare, change and wait for. */
export interface LivePod {
  readonly labels: Labels;
  readonly annotations: Labels;
  /** The kubelet has acted on the current spec, or is too old to report that (before Kubernetes 1.35). */
  readonly observed: boolean;
  readonly containers: readonly LiveContainer[];
  readonly initContainers: readonly LiveContainer[];
  /** What the kubelet reports about the resize that the spec asks for, or `null`. */
  readonly resize: {
    readonly state: 'Deferred' | 'Infeasible' | 'InProgress' | 'Error';
    readonly message: string;
    readonly since: string | null;
  } | null;
  /** When this program last resized it, by the clock of the API server, or `null`. */
  readonly resizedAt: string | null;
}

export interface LiveContainer extends LiveResources {
  readonly name: string;
  /** The image as written in the spec. */
  readonly image: string;
  /** The kubelet asks the registry before each start (`imagePullPolicy: Always`). */
  readonly pulledAlways: boolean;
  /** The id of its current run, or `null` before the first. */
  readonly id: string | null;
}

export interface LiveResources {
  /** The resources as written in the spec. */
  readonly resources: Resources;
  /** The resources that the container runs with, as far as the kubelet reports them. */
  readonly actual: Resources;
  /** The quantities that a resize by this program has set last. */
  readonly resized: readonly { readonly list: keyof Resources; readonly resource: string }[];
}

export interface Resources {
  readonly limits: Quantities;
  readonly requests: Quantities;
}

export interface PodRecord extends ObjectRecord, PodFacts {
  readonly clusterName: string;
  readonly node: string | null;
  /** The uid of the object that controls it, or `null`. */
  readonly controller: string | null;
  readonly labels: Labels;
  readonly createdAt: string;
  /** When the label of its revision was last set, or later; `null` if that cannot be determined. */
  readonly revisionSetAt: string | null;
  /** The kubelet has not admitted it: the pod has failed, and none of its containers was ever created. */
  readonly rejected: boolean;
  /** The digest to which the container runtime has resolved the image of mysqld, or `null` before that. */
  readonly imageId: string | null;
  /** When condition Ready last changed, or `null`. */
  readonly readyChangedAt: string | null;
  readonly containersReadyChangedAt: string | null;
  readonly containers: readonly ContainerRecord[];
  readonly initContainers: readonly ContainerRecord[];
  readonly deletionTimestamp: string | null;
  /** Where its moco-agent listens; `null` for a part that is unknown or not declared. */
  readonly agent: {
    readonly ip: string | null;
    readonly probePort: number | null;
    readonly metricsPort: number | null;
  };
  /** `null` in the cache while the feature gate is off. */
  readonly live: LivePod | null;
}

export interface BudgetRecord
  extends ObjectRecord,
    Omit<BudgetFacts, 'ofMoco' | 'awaiting' | 'refusal' | 'refusedForSeconds'> {
  readonly selector: LabelSelector | null;
  /** When the API server accepted the eviction of a pod, by the names of pods. */
  readonly disruptedPods: Readonly<Record<string, string>>;
}

/** An active Job of a backup or a restore, no matter who created it: its pod runs or will run. */
export interface JobRecord extends ObjectRecord, Omit<BackupJobFacts, 'activeForSeconds'> {
  readonly clusterName: string;
  /** When it started, or was created if it has not. */
  readonly startedAt: string;
}

/** The claim of a member's data. */
export interface ClaimRecord extends ObjectRecord {
  /** What this program has noted about its data, or `null`. */
  readonly data: DataRecord | null;
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
  /** The API server's message if Jobs can't be read, otherwise `null`. `jobs` is empty then. */
  readonly jobsUnreadable: string | null;
}

/** The selectors by which a MySQLRolloutPolicy selects a MySQLCluster. */
export interface Selectable {
  readonly namespace: string;
  readonly labels: Labels;
  /** The labels of its namespace. `null` while they are unknown or may not be read. */
  readonly namespaceLabels: Labels | null;
}
