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

// Every fact that a decision can depend on. The compiler makes each source and each test provide all of them.

/**
 * The facts about one cluster at one moment, as `decide` needs them: ages instead of points in time, words instead of
 * labels.
 */
export interface ClusterSnapshot {
  readonly cluster: ClusterFacts;
  /** `null` while there is none, as when MOCO re-creates it. */
  readonly statefulSet: StatefulSetFacts | null;
  /** The pods that exist, one for each ordinal, ascending. */
  readonly members: readonly MemberFacts[];
  /**
   * The last mysqld of each member that may have started since this process began to watch it, whether or not the
   * member has a pod now. No entry: none has.
   */
  readonly lastRuns: readonly LastRun[];
  /** What the claims of members say about their data. No entry: nothing was read. */
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
  /** Why Jobs can't be read although the cluster has a backup policy, or `null`. */
  readonly backupsUnreadable: string | null;
  /** Somebody writes the spec of the StatefulSet again and again; `null` if nobody does. */
  readonly contention: Contention | null;
  /** Who has written the pod template lately, MOCO aside, as its field manager and the kind of the object. */
  readonly templateWriters: readonly string[];
  readonly memory: RolloutMemory;
  readonly rolloutProblem: RolloutProblem | null;
  readonly settingsProblem: string | null;
  /** The policy that decided a setting until it was deleted, such as a freeze, if another value is in force since. */
  readonly policyGone: { readonly policy: string; readonly sinceSeconds: number } | null;
  /** The StatefulSet's FailedCreate message while a pod can't be created, else `null`. */
  readonly createFailure: string | null;
  /** The user has released this cluster, and no later setting says otherwise. */
  readonly released: boolean;
  /** Why the cluster may not begin a rollout because of others, the strongest reason first. Empty once it has begun. */
  readonly fleetWaits: readonly FleetWait[];
  /** The place in the queue of a cluster that may not begin yet, or `null`. */
  readonly fleetQueue: FleetPlace | null;
  /**
   * The least time between two disruptions in the fleet, and the seconds since the last one. `null` without such an
   * interval.
   */
  readonly fleetInterval: { readonly flag: string; readonly seconds: number; readonly sinceSeconds: number } | null;
  /** Evictions of other clusters that Kubernetes' disruption controller has not observed. */
  readonly unobservedEvictions: number;
  /** When working members may be taken. `null` if at any time. */
  readonly maintenance: MaintenanceFacts | null;
  /** What Prometheus last said about each check of the user, in their order. */
  readonly checks: readonly CheckFacts[];
  readonly laterStageWaits: boolean;
  /** What a dry run has shown about admission, or `null` if nothing is known against it. */
  readonly admissionProblem: AdmissionProblem | null;
  /**
   * Who keeps the strategy of a StatefulSet with our label: the API server itself, or a webhook, which may be
   * unavailable. `null` if no dry run has shown it yet.
   */
  readonly strategyKeeper: 'policy' | 'webhook' | null;
  /** The cluster's pods were last seen under this program's protection: at OnDelete, kept there by admission. */
  readonly wasAdopted: boolean;
  /** Seconds since each adoption of this StatefulSet that is remembered. */
  readonly adoptionAgesSeconds: readonly number[];
  /** The current revision that a release has replaced, and its replacement, until the change is known to last. */
  readonly promotion: { readonly from: string; readonly to: string } | null;
  readonly releaseRefusal: { readonly message: string; readonly sinceSeconds: number } | null;
  /** The last step if the API server was too slow for it or did not carry it out, else `null`. */
  readonly stepFailure: StepFailure | null;
  /** The API server's sentence when it refused a status of the MySQLRollout that its CRD does not know, else `null`. */
  readonly statusRefusal: string | null;
  /** A write of this controller that the facts do not show yet, in a word or two, or `null`. */
  readonly ownWritePending: string | null;
}

/** What is known of the next 30 days. */
export interface MaintenanceFacts {
  /** The maintenance windows that are not over, in order and apart from each other. `null` if there are none. */
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
  /** Negative if it is over. */
  readonly inSeconds: number;
  /** For people. */
  readonly at: string;
}

/** The MySQLRollout is being deleted, and these finalizers keep it; or it belongs to another MySQLCluster. */
export type RolloutProblem =
  | { readonly kind: 'terminating'; readonly finalizers: readonly string[] }
  | { readonly kind: 'notOwned'; readonly owner: string };

export interface AdmissionProblem {
  /** `CurrentRevision`: it is about the label for new pods. */
  readonly mode: 'OnDelete' | 'Partition' | 'CurrentRevision';
  /** What came back, as a sentence without a full stop. */
  readonly finding: string;
  /** How often in a row it was so. */
  readonly tries: number;
  readonly sinceSeconds: number;
}

export interface StepFailure {
  /** As `stepIdentity` names it. `null` if an earlier step may still happen, so that no step may be done. */
  readonly step: string | null;
  readonly cause: 'tooSlow' | 'refused';
  /** The API server's words, or which time limit has passed. */
  readonly message: string;
  /** How often in a row, from 1 up. */
  readonly tries: number;
  readonly sinceLastTrySeconds: number;
  /** How long the API server asked to wait. 0 if it did not. */
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
  /** The reason that MOCO gives for them. `null` if it has written none, or one that this program does not know. */
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

/** Writes of a StatefulSet that change its spec, and never end. */
export interface Contention {
  /**
   * The minimum rate: 1, 10 or 100. `null` if there are fewer, and they reset each partition that this program sets.
   */
  readonly writesPerSecond: number | null;
  readonly managers: readonly string[];
  /** Why MOCO applies it at each reconciliation. Empty if that is not the reason, or not known yet. */
  readonly fields: readonly AlteredField[];
}

/** A field of the MySQLCluster that the StatefulSet never has as MOCO applies it. */
export interface AlteredField {
  /** Such as `spec.podTemplate.spec.containers[side].env[POD].valueFrom.fieldRef.apiVersion`. */
  readonly path: string;
  /** The API server adds it to a value that MOCO owns as a whole, or drops it, because it is empty. */
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
  /** Annotation `force-rolling-update` has been copied to it. */
  readonly forcedRollingUpdate: boolean;
  /** It carries the label by which admission keeps it at OnDelete. */
  readonly labelled: boolean;
  /**
   * The revision of new pods. With `CurrentRevision` our second label asks admission to keep RollingUpdate with
   * partition = replicas instead; `strategy` and `partition` show whether it does.
   */
  readonly newPods: NewPods;
  /** Of its template: that of the update revision, once it is observed. */
  readonly mysqld: MysqldFacts;
}

/** Facts of a member that no watch delivers. They follow from the answers to questions (`questions.ts`). */
export interface AskedMemberFacts {
  /** How it can reach the update revision; `null` if it has, or while updates in place are off. */
  readonly inPlace: InPlaceUpdate | NotAsked | null;
  /** Whether it can be recreated at the update revision once its pod has ended. */
  readonly recreatable: Recreatable | NotAsked;
  /** Its node is being drained, as far as that was read: it has to move anyway. */
  readonly nodeLeaves: boolean;
  /** What its agent last said about a clone; `null` if it was never asked. */
  readonly clone: LastClone | null;
}

export interface MemberFacts extends AskedMemberFacts {
  readonly ordinal: number;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  /** Label `controller-revision-hash`. Empty without one, and if the pod was resized for another revision. */
  readonly revision: string;
  /** MOCO's role label; it lags behind the index and is absent on a fresh pod. */
  readonly role: 'primary' | 'replica' | null;
  readonly phase: 'Pending' | 'Running' | 'Succeeded' | 'Failed' | 'Unknown';
  /** Condition Ready. */
  readonly ready: boolean;
  /** Ready is False because of a readiness gate of the pod, which says nothing about its containers. */
  readonly readinessGateClosed: boolean;
  /** The scheduler's message while it finds no node, otherwise `null`. */
  readonly unschedulable: string | null;
  /** Why a pod of phase Failed has failed (`status.reason`, such as OutOfcpu or Evicted), else `null`. */
  readonly failedReason: string | null;
  /** The reason of its condition DisruptionTarget, such as `TerminationByKubelet`, while that is True; else `null`. */
  readonly disruption: string | null;
  /** It was evicted because it used more storage than its own limits allow. */
  readonly exceededLimits: boolean;
  /** The StatefulSet is its controller. Another pod with MOCO's labels is not a member. */
  readonly ofStatefulSet: boolean;
  readonly containers: readonly ContainerFacts[];
  readonly initContainers: readonly ContainerFacts[];
  /**
   * Seconds since its deletion was requested with this grace period. At a grace period of 0, which comes right before
   * the end: since that was observed. `null` if nobody has requested it.
   */
  readonly terminatingForSeconds: number | null;
  readonly graceSeconds: number;
  /** Seconds since container mysqld was last seen running; 0 while it runs. */
  readonly mysqldIdleForSeconds: number;
  /** Seconds since the startup probe of container mysqld was seen to have passed; 0 before. */
  readonly mysqldStartedForSeconds: number;
  /** How long its startup probe gives mysqld before the kubelet restarts it; `null` without one. */
  readonly startupSeconds: number | null;
  /** Seconds for which it has participated without a break, in whatever role; `null` while it does not. */
  readonly participatingForSeconds: number | null;
  /**
   * Seconds for which this pod is known to match its revision: with its label, and with the resources that a resize has
   * given it. As long as the objects show, unless this process has seen it for longer.
   */
  readonly revisionForSeconds: number;
  readonly demote: boolean;
  /** The update revision in our mark beside `demote`, or `null`. */
  readonly demotedFor: string | null;
  /** Seconds for which `demote` has been there; 0 while it is not. */
  readonly demoteForSeconds: number;
  readonly preventDelete: boolean;
  readonly restartInPlace: RestartInPlace | null;
  /** The mysqld that its pod runs, or will run. */
  readonly mysqld: MysqldFacts;
  /** Its mysqld does not run, and its last run was killed (exit code 137). */
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
  /** The newest mysqld that has started on the data, as the claim says; `null` if it says nothing that can be used. */
  readonly record: DataRecord | null;
  /** Seconds since the claim was read or written. */
  readonly ageSeconds: number;
}

export interface LastRun extends DataRecord {
  readonly ordinal: number;
  /** It has participated since then, so it has opened the data, however new they were. */
  readonly worked: boolean;
}

export interface ContainerFacts {
  readonly name: string;
  /** What the container is for: `mysqld` is the database, `agent` answers its probes, `side` is any other. */
  readonly part: 'mysqld' | 'agent' | 'side';
  readonly state: 'waiting' | 'running' | 'terminated';
  /** Of a waiting or terminated container, else `null`. A waiting one has none until the kubelet has reported it. */
  readonly reason: string | null;
  /** It runs, or has run before in this pod. */
  readonly hasRun: boolean;
  /** An init container that runs beside the others (`restartPolicy: Always`). */
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
  /** Evictions that it counts although their pods may still exist (`status.disruptedPods`). */
  readonly awaiting: number;
  /** `spec.maxUnavailable` is 0. */
  readonly closed: boolean;
  /** It has the name of MOCO's own budget, which MOCO closes while a backup runs. */
  readonly ofMoco: boolean;
  /** Its owner, or else the field managers of its spec; `null` if nothing shows them. */
  readonly whose: string | null;
  /** The API server's message if it refused an eviction and this budget has not changed since, else `null`. */
  readonly refusal: string | null;
  readonly refusedForSeconds: number;
}

export interface BackupJobFacts {
  readonly name: string;
  /** It is MOCO's Job that restores the cluster. */
  readonly restores: boolean;
  /** For people. */
  readonly startedAt: string;
  readonly activeForSeconds: number;
}

export interface RecentRevision {
  readonly ageSeconds: number;
  /** When it is ten minutes old. For people. */
  readonly oldAt: string;
  /** The rollout to it is complete. */
  readonly completed: boolean;
}

export interface TakenPod {
  readonly ordinal: number;
  readonly uid: string;
  /** The step restores the previous revision of its member. */
  readonly restores: boolean;
}

/** Facts that the current objects do not show. Kept in the status of the MySQLRollout. */
export interface RolloutMemory {
  /** The rule that the status shows; `null` if it shows none. */
  readonly shown: string | null;
  /** Rules that held before the present one, and that are not known to have ended. */
  readonly earlier: readonly string[];
  /** A member at the update revision has participated for minReadySeconds. */
  readonly verified: boolean;
  /** The member that has failed at the update revision, if none has worked at it since, and why. `null` if none has. */
  readonly failing: { readonly member: number; readonly message: string; readonly injected?: string } | null;
  /** Members that were down already when this rollout took them. */
  readonly takenDown: readonly number[];
  /** Members that were stale when the rollout began, and that no step has taken. `null` if nothing is recorded yet. */
  readonly waiting: readonly number[] | null;
  /** The revision that most members had when the rollout began, or `null`. */
  readonly from: string | null;
  /** The pods that steps have taken, if their members do not work at the update revision yet. */
  readonly taken: readonly TakenPod[];
  /** Members that came up at the update revision without a step of this program. */
  readonly updatedOutOfBand: readonly number[];
  /** Those of them that were held at that time, and whether their mysqld has started since, in any pod. */
  readonly createdWhileHeld: readonly { readonly ordinal: number; readonly started: boolean }[];
  readonly sinceProgressSeconds: number;
  /** Switchovers for this update revision that timed out. Demotions taken back for other reasons do not count. */
  readonly switchoverTries: number;
  /** Seconds since the last of them was taken back. 0 without one. */
  readonly sinceLastTrySeconds: number;
  /** The latest update revisions, the newest last. Each counts once, when it appeared. */
  readonly recentRevisions: readonly RecentRevision[];
}
