import type { FleetPlace, FleetWait } from './fleet/waits.ts';
import type { InPlaceUpdate, RestartInPlace } from './in-place-changes.ts';
import type { MocoState } from './moco-state.ts';
import type { MysqldFacts } from './mysql-versions.ts';
import type {
  AskedMember,
  CheckFacts,
  LastClone,
  MocoLease,
  MysqlReading,
  NotAsked,
  Preflight,
  Recreatable,
  ReplicationDelay,
} from './on-demand-facts.ts';

// Every fact that a decision can depend on. The compiler makes every source and every test provide all of them.

/**
 * The facts about one cluster at one moment, in the form that `decide` needs: ages instead of points in time, words
 * instead of labels.
 */
export interface ClusterSnapshot {
  readonly cluster: ClusterFacts;
  /** `null` while there is none, for example when MOCO re-creates it. */
  readonly statefulSet: StatefulSetFacts | null;
  /** The pods that exist, one for each ordinal, ascending. */
  readonly members: readonly MemberFacts[];
  /**
   * For each member, the last mysqld that may have started since this process began to watch it, whether or not the
   * member has a pod now. A member without an entry has had none.
   */
  readonly lastRuns: readonly LastRun[];
  /** What the claims of members say about their data. A member without an entry has not been read. */
  readonly dataRecords: readonly DataRecordFacts[];
  /** Every PodDisruptionBudget whose selector matches the members. */
  readonly budgets: readonly BudgetFacts[];
  /** How far replicas were behind when they were last asked. Only replicas that the next step depends on are asked. */
  readonly replicationDelays: readonly ReplicationDelay[];
  /** Whether moco-controller works, as far as its Lease shows. */
  readonly moco: MocoLease;
  /** What members themselves answered when they were last asked. Only those that the next step relies on are asked. */
  readonly memberAnswers: readonly AskedMember[];
  /** What MySQL itself last said. `null` while the feature gate is off. */
  readonly mysql: MysqlReading | null;
  /** What the nodes of due members have found out about the update revision. `null` without the setting `preflight`. */
  readonly preflight: Preflight | null;
  /** Pods of a preflight may exist, whatever the settings are now. They are followed until none is left. */
  readonly preflightPodsExist: boolean;
  /**
   * The active Jobs that back this cluster up or restore it, whether or not MOCO has closed the PodDisruptionBudget.
   */
  readonly backupJobs: readonly BackupJobFacts[];
  /** Why Jobs cannot be read although the cluster has a backup policy, or `null`. */
  readonly backupsUnreadable: string | null;
  /** Somebody writes the spec of the StatefulSet again and again; `null` if nobody does. */
  readonly contention: Contention | null;
  /** Who has written the pod template lately, apart from MOCO: field manager and kind of the object. */
  readonly templateWriters: readonly string[];
  readonly memory: RolloutMemory;
  readonly rolloutProblem: RolloutProblem | null;
  readonly settingsProblem: string | null;
  /**
   * The policy that decided a setting until it was deleted, for example a freeze, if another value is in force since.
   */
  readonly policyGone: { readonly policy: string; readonly sinceSeconds: number } | null;
  /** The StatefulSet's FailedCreate message while a pod cannot be created, otherwise `null`. */
  readonly createFailure: string | null;
  /** The user has released this cluster, and no later setting says otherwise. */
  readonly released: boolean;
  /** Why other clusters keep this one from beginning a rollout, the strongest reason first. Empty once it has begun. */
  readonly fleetWaits: readonly FleetWait[];
  /** The place in the queue if the cluster may not begin yet, otherwise `null`. */
  readonly fleetQueue: FleetPlace | null;
  /**
   * The minimum time between two disruptions in the fleet, and the seconds since the last one. `null` without such an
   * interval.
   */
  readonly fleetInterval: { readonly flag: string; readonly seconds: number; readonly sinceSeconds: number } | null;
  /** Evictions of other clusters that Kubernetes' disruption controller has not observed. */
  readonly unobservedEvictions: number;
  /** When working members may be replaced. `null` if at any time. */
  readonly maintenance: MaintenanceFacts | null;
  /** What Prometheus last said about each check of the user, in their order. */
  readonly checks: readonly CheckFacts[];
  readonly laterStageWaits: boolean;
  /** What a dry run has shown about admission, or `null` if nothing is known against it. */
  readonly admissionProblem: AdmissionProblem | null;
  /**
   * What keeps the strategy of a StatefulSet with our label: the API server itself, or a webhook, which may be
   * unavailable. `null` if no dry run has shown it yet.
   */
  readonly strategyKeeper: 'policy' | 'webhook' | null;
  /** The cluster's pods were last seen under this program's protection: at OnDelete, kept there by admission. */
  readonly wasAdopted: boolean;
  /** Seconds since each adoption of this StatefulSet that is remembered. */
  readonly adoptionAgesSeconds: readonly number[];
  /** The current revision before a release, and the one that replaced it, until the change is known to last. */
  readonly promotion: { readonly from: string; readonly to: string } | null;
  readonly releaseRefusal: { readonly message: string; readonly sinceSeconds: number } | null;
  /** The last step if the API server was too slow for it or did not carry it out, otherwise `null`. */
  readonly stepFailure: StepFailure | null;
  /** The API server's sentence when it refused a MySQLRollout status because its CRD is older, otherwise `null`. */
  readonly statusRefusal: string | null;
  /** A write of this controller that the facts do not show yet, in a word or two, or `null`. */
  readonly ownWritePending: string | null;
}

/** What is known about the next 30 days. */
export interface MaintenanceFacts {
  /** The maintenance windows that are not over, in order and not overlapping. `null` if there are none. */
  readonly windows: readonly Interval[] | null;
  /** The windows in which `inPlace.mode: Only` replaces members, in the same form. */
  readonly restartWindows: readonly Interval[] | null;
  /** The blackouts that are not over. */
  readonly blackouts: readonly Blackout[];
  /** How long a member is expected to be unavailable while it is updated. */
  readonly memberSeconds: number;
}

export interface Interval {
  readonly from: Moment;
  readonly until: Moment;
}

export interface Blackout extends Interval {
  readonly reason: string;
}

export interface Moment {
  /** Negative if it has ended. */
  readonly inSeconds: number;
  /** For people. */
  readonly at: string;
}

/** The MySQLRollout is being deleted and these finalizers block that, or it belongs to another MySQLCluster. */
export type RolloutProblem =
  | { readonly kind: 'terminating'; readonly finalizers: readonly string[] }
  | { readonly kind: 'notOwned'; readonly owner: string };

export interface AdmissionProblem {
  /** `CurrentRevision`: the problem concerns the label for new pods. */
  readonly mode: 'OnDelete' | 'Partition' | 'CurrentRevision';
  /** What the dry run returned, as a sentence without a full stop. */
  readonly finding: string;
  /** How many times in a row it has failed. */
  readonly tries: number;
  readonly sinceSeconds: number;
}

export interface StepFailure {
  /** The step as `stepIdentity` names it. `null` if an earlier step may still happen, so that no step may be done. */
  readonly step: string | null;
  readonly cause: 'tooSlow' | 'refused';
  /** The API server's words, or the time limit that was exceeded. */
  readonly message: string;
  /** How many times in a row, counted from 1. */
  readonly tries: number;
  readonly sinceLastTrySeconds: number;
  /** How long the API server asked the controller to wait. 0 if it did not. */
  readonly retryAfterSeconds: number;
}

export interface ClusterFacts {
  readonly deleting: boolean;
  readonly generation: number;
  /** `spec.replicas`. */
  readonly replicas: number;
  /** `status.currentPrimaryIndex`: the only source of who is primary. */
  readonly primaryIndex: number;
  readonly syncedReplicas: number;
  readonly errantOrdinals: readonly number[];
  /** `status.reconcileInfo.generation`, which advances even when that reconciliation failed. */
  readonly reconciledGeneration: number;
  /** The generation for which condition `ReconcileSuccess` is True, or `null`. */
  readonly succeededGeneration: number | null;
  readonly initialized: boolean;
  readonly available: boolean;
  readonly healthy: boolean;
  /**
   * The reason that MOCO gives for these conditions. `null` if it has written none, or one that this program does not
   * know.
   */
  readonly mocoState: MocoState | null;
  readonly offline: boolean;
  readonly reconciliationStopped: boolean;
  readonly clusteringStopped: boolean;
  readonly forcedRollingUpdate: boolean;
  /** `spec.replicationSourceSecretName` is set: its primary follows another database and is never opened for writes. */
  readonly replicatesFromElsewhere: boolean;
  /** Seconds for which the member at `primaryIndex` has not participated; `null` while it does. */
  readonly primaryUnavailableForSeconds: number | null;
  /**
   * Seconds for which the primary has participated without a break, with the role label of a primary; `null` otherwise.
   */
  readonly primarySettledForSeconds: number | null;
}

/** Repeated writes of a StatefulSet that change its spec and never end. */
export interface Contention {
  /**
   * At least this rate: 1, 10 or 100. `null` if there are fewer, and they reset each partition that this program sets.
   */
  readonly writesPerSecond: number | null;
  readonly managers: readonly string[];
  /**
   * Why MOCO applies the StatefulSet at each reconciliation. Empty if something else is the reason, or it is not known
   * yet.
   */
  readonly fields: readonly AlteredField[];
}

/** A field of the MySQLCluster whose value in the StatefulSet never stays as MOCO applied it. */
export interface AlteredField {
  /** For example `spec.podTemplate.spec.containers[side].env[POD].valueFrom.fieldRef.apiVersion`. */
  readonly path: string;
  /** The API server adds it to a value that MOCO owns as a whole, or drops it because it is empty. */
  readonly what: 'added' | 'dropped';
}

export type NewPods = 'UpdateRevision' | 'CurrentRevision';

export interface StatefulSetFacts {
  readonly deleting: boolean;
  readonly replicas: number;
  /** `status.observedGeneration` has reached `metadata.generation`: updateRevision belongs to this template. */
  readonly observed: boolean;
  readonly currentRevision: string;
  readonly updateRevision: string;
  readonly strategy: 'OnDelete' | 'RollingUpdate';
  /** `rollingUpdate.partition`; `null` where there is none. */
  readonly partition: number | null;
  /** Annotation `force-rolling-update` has been copied to the StatefulSet. */
  readonly forcedRollingUpdate: boolean;
  /** It carries the label by which admission keeps it at OnDelete. */
  readonly labelled: boolean;
  /**
   * The revision of new pods. With `CurrentRevision` our second label asks admission to keep RollingUpdate with
   * partition = replicas instead; `strategy` and `partition` show whether admission does.
   */
  readonly newPods: NewPods;
  /** The mysqld of its template: that of the update revision, once the template is observed. */
  readonly mysqld: MysqldFacts;
}

/** Facts about a member that no watch delivers. They come from the answers to questions (`questions.ts`). */
export interface AskedMemberFacts {
  /** How it can reach the update revision; `null` if it is already there, or while updates in place are off. */
  readonly inPlace: InPlaceUpdate | NotAsked | null;
  /** Whether it can be recreated at the update revision after its pod has ended. */
  readonly recreatable: Recreatable | NotAsked;
  /** Its node is being drained, as far as is known: the member has to move anyway. */
  readonly nodeLeaves: boolean;
  /** What its agent last reported about a clone; `null` if it was never asked. */
  readonly clone: LastClone | null;
  /** The version of its mysqld, such as `8.4.8`, according to MySQL; `null` if it has not said. */
  readonly serverVersion: string | null;
}

export interface MemberFacts extends AskedMemberFacts {
  readonly ordinal: number;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  /** Label `controller-revision-hash`. Empty without one, and if the pod was resized for another revision. */
  readonly revision: string;
  /** MOCO's role label. It lags behind the index, and a fresh pod has none. */
  readonly role: 'primary' | 'replica' | null;
  readonly phase: 'Pending' | 'Running' | 'Succeeded' | 'Failed' | 'Unknown';
  /** Condition Ready. */
  readonly ready: boolean;
  /** Ready is False because of a readiness gate of the pod, which does not concern its containers. */
  readonly readinessGateClosed: boolean;
  /** The scheduler's message while it finds no node, otherwise `null`. */
  readonly unschedulable: string | null;
  /** Why a pod of phase Failed has failed (`status.reason`, such as OutOfcpu or Evicted), otherwise `null`. */
  readonly failedReason: string | null;
  /**
   * The reason of its condition DisruptionTarget, such as `TerminationByKubelet`, while that is True; otherwise `null`.
   */
  readonly disruption: string | null;
  /** It was evicted because it used more storage than its own limits allow. */
  readonly exceededLimits: boolean;
  /** The StatefulSet is its controller. Other pods with MOCO's labels are not members. */
  readonly ofStatefulSet: boolean;
  readonly containers: readonly ContainerFacts[];
  readonly initContainers: readonly ContainerFacts[];
  /**
   * Seconds since its deletion was requested with this grace period. A grace period of 0 comes right before the end:
   * the time since that was observed. `null` if nobody has requested the deletion.
   */
  readonly terminatingForSeconds: number | null;
  readonly graceSeconds: number;
  /** Seconds since container mysqld was last seen running; 0 while it runs. */
  readonly mysqldIdleForSeconds: number;
  /** Seconds since the startup probe of container mysqld was first seen to have passed; 0 before that. */
  readonly mysqldStartedForSeconds: number;
  /** How long its startup probe allows mysqld to start before the kubelet restarts it; `null` without one. */
  readonly startupSeconds: number | null;
  /** Seconds for which it has participated without a break, in any role; `null` while it does not. */
  readonly participatingForSeconds: number | null;
  /**
   * Seconds for which this pod is known to match its revision: its label, and the resources that a resize has given it.
   * Derived from the objects, unless this process has seen it for longer.
   */
  readonly revisionForSeconds: number;
  readonly demote: boolean;
  /** The update revision in our mark next to `demote`, or `null`. */
  readonly demotedFor: string | null;
  /** Seconds since `demote` was set; 0 while it is not. */
  readonly demoteForSeconds: number;
  readonly preventDelete: boolean;
  readonly restartInPlace: RestartInPlace | null;
  /** The mysqld that its pod runs or is going to run. */
  readonly mysqld: MysqldFacts;
  /** The last run of its mysqld that has ended in this pod was killed (exit code 137). */
  readonly mysqldKilled: boolean;
}

/** A mysqld that has started on the data of a member. */
export interface DataRecord {
  readonly revision: string;
  /** The image of container mysqld at that revision; `null` if it is not known. */
  readonly image: string | null;
  /** Its version, such as `8.4.8`; `null` if it is not known. */
  readonly version: string | null;
}

export interface DataRecordFacts {
  readonly ordinal: number;
  /** The newest mysqld that has started on the data, according to the claim; `null` if the claim has nothing usable. */
  readonly record: DataRecord | null;
  /** Seconds since the claim was read or written. */
  readonly ageSeconds: number;
}

export interface LastRun extends DataRecord {
  readonly ordinal: number;
  /** It has participated since then, so it has opened the data, however new the data were. */
  readonly worked: boolean;
}

export interface ContainerFacts {
  readonly name: string;
  /** What the container is for: `mysqld` is the database, `agent` answers its probes, `side` is any other. */
  readonly part: 'mysqld' | 'agent' | 'side';
  readonly state: 'waiting' | 'running' | 'terminated';
  /**
   * The reason of a waiting or terminated container, otherwise `null`. A waiting container has none until the kubelet
   * has reported it.
   */
  readonly reason: string | null;
  /** It is running, or has run before in this pod. */
  readonly hasRun: boolean;
  /** An init container that keeps running beside the others (`restartPolicy: Always`). */
  readonly sidecar: boolean;
  /** The template of the StatefulSet does not have it: admission has added it to the pod. */
  readonly injected: boolean;
  readonly ready: boolean;
  readonly started: boolean;
  readonly restarts: number;
  readonly readySinceRestart: boolean;
  /** How often it has restarted since it was last ready, as far as this process has seen; 0 while it is ready. */
  readonly restartsInVain: number;
  /** Seconds for which it has not been ready; 0 while it is. */
  readonly notReadyForSeconds: number;
}

export interface BudgetFacts {
  readonly name: string;
  /** `status.observedGeneration` has reached `metadata.generation`. */
  readonly observed: boolean;
  readonly disruptionsAllowed: number;
  readonly currentHealthy: number;
  readonly desiredHealthy: number;
  /** Evictions that the budget counts although their pods may still exist (`status.disruptedPods`). */
  readonly awaiting: number;
  /** `spec.maxUnavailable` is 0. */
  readonly closed: boolean;
  /** It has the name of MOCO's own budget, which MOCO closes while a backup runs. */
  readonly ofMoco: boolean;
  /** Its owner, or otherwise the field managers of its spec; `null` if neither is known. */
  readonly whose: string | null;
  /** The API server's message if it refused an eviction and this budget has not changed since, otherwise `null`. */
  readonly refusal: string | null;
  readonly refusedForSeconds: number;
}

export interface BackupJobFacts {
  readonly name: string;
  /** It is the Job by which MOCO restores the cluster. */
  readonly restores: boolean;
  /** For people. */
  readonly startedAt: string;
  readonly activeForSeconds: number;
}

export interface RecentRevision {
  readonly ageSeconds: number;
  /** When the revision will be ten minutes old. For people. */
  readonly oldAt: string;
  /** A rollout to this revision has completed. */
  readonly completed: boolean;
}

export interface TakenPod {
  readonly ordinal: number;
  readonly uid: string;
  /** The step restores its member's previous revision. */
  readonly restores: boolean;
}

/** Facts that the current objects do not show, kept in the status of the MySQLRollout. */
export interface RolloutMemory {
  /** The rule that the status shows; `null` if it shows none. */
  readonly shown: string | null;
  /** Rules that held before the present one and are not known to have ended. */
  readonly earlier: readonly string[];
  /** A member at the update revision has participated for minReadySeconds. */
  readonly verified: boolean;
  /**
   * The member that has failed at the update revision, if none has worked at it since, and why. `null` if none has
   * failed.
   */
  readonly failing: { readonly member: number; readonly message: string; readonly injected?: string } | null;
  /** Members that were already down when this rollout replaced them. */
  readonly takenDown: readonly number[];
  /**
   * Members that were stale when the rollout began and that no step has replaced. `null` if nothing is recorded yet.
   */
  readonly waiting: readonly number[] | null;
  /** The revision that most members had when the rollout began, or `null`. */
  readonly from: string | null;
  /** The pods that steps have replaced, as long as their members do not work at the update revision yet. */
  readonly taken: readonly TakenPod[];
  /** Members that were recreated at the update revision without a step of this program. */
  readonly updatedOutOfBand: readonly number[];
  /** Those of them that were held at that time, and whether their mysqld has started since, in any pod. */
  readonly createdWhileHeld: readonly { readonly ordinal: number; readonly started: boolean }[];
  readonly sinceProgressSeconds: number;
  /** Switchovers for this update revision that timed out. Demotions taken back for other reasons do not count. */
  readonly switchoverTries: number;
  /** Seconds since the last of them was taken back. 0 if there was none. */
  readonly sinceLastTrySeconds: number;
  /** The latest update revisions, the newest last. Each is listed once, at the time it appeared. */
  readonly recentRevisions: readonly RecentRevision[];
}
