import type { FleetPlace } from './fleet.ts';

/**
 * The facts about one cluster at one moment, as `decide` wants them: ages instead of clocks, words instead of
 * labels. Whoever gathers them has read every object once; nothing here can be asked for more.
 */
export interface ClusterSnapshot {
  readonly cluster: ClusterFacts;
  /** `null` while there is none, which MOCO's re-creation of it makes ordinary. */
  readonly statefulSet: StatefulSetFacts | null;
  /** The pods that exist, one for each ordinal, ascending. */
  readonly members: readonly MemberFacts[];
  /** Every PodDisruptionBudget whose selector matches the members. */
  readonly budgets: readonly BudgetFacts[];
  /** A backup job of this cluster is active, whether or not MOCO has closed the PodDisruptionBudget for it yet. */
  readonly backupJobActive: boolean;
  readonly memory: RolloutMemory;
  /** Why nothing of the MySQLRollout can be followed or written down, or `null`. */
  readonly rolloutProblem: RolloutProblem | null;
  /** Why the user's wishes can't be read, or `null`. */
  readonly policyProblem: string | null;
  /** The StatefulSet's FailedCreate sentence while a pod can't be made, else `null`. */
  readonly createFailure: string | null;
  /** The user took this cluster back from this program, and no later wish says otherwise. */
  readonly handedBack: boolean;
  /** The place in the queue of a cluster that may not begin yet, or `null`. */
  readonly fleetQueue: FleetPlace | null;
  /** A least time between two disruptions in the whole fleet, and the seconds since the last one; `null` without. */
  readonly fleetInterval: { readonly flag: string; readonly seconds: number; readonly sinceSeconds: number } | null;
  /** What a dry run has shown about admission, or `null` while nothing is known against it. */
  readonly admissionProblem: AdmissionProblem | null;
  /** Seconds since each adoption of this StatefulSet that is remembered. */
  readonly adoptionAgesSeconds: readonly number[];
  /** The current revision that a hand-back has replaced, and by which, until it has been seen to stay. */
  readonly promotion: { readonly from: string; readonly to: string } | null;
  /** What a hand-back that was only tried would have come to, seconds ago, or `null` where nothing is against it. */
  readonly handBackRefusal: { readonly message: string; readonly sinceSeconds: number } | null;
  /** The last step, if the API server was too slow for it or did not carry it out, or `null`. */
  readonly stepFailure: StepFailure | null;
  /** Fields of the MySQLRollout's status, such as `status.intent`, that were written and that its definition did not keep. */
  readonly fieldsNotKept: readonly string[];
  /** A write of this controller that the facts don't show yet, in a word or two, or `null`. */
  readonly ownWritePending: string | null;
}

/** The MySQLRollout is being deleted, and these finalizers keep it; or it belongs to another MySQLCluster. */
export type RolloutProblem =
  | { readonly kind: 'terminating'; readonly finalizers: readonly string[] }
  | { readonly kind: 'notOwned'; readonly owner: string };

/** A dry run whose answer was not what a mode needs of admission. */
export interface AdmissionProblem {
  readonly mode: 'OnDelete' | 'Partition';
  /** What came back, as a sentence without a full stop. */
  readonly finding: string;
  /** How often in a row it was so. */
  readonly tries: number;
  /** Seconds since the last of them. */
  readonly sinceSeconds: number;
}

/** A step that did not happen. */
export interface StepFailure {
  /** As `stepIdentity` names it; `null` where an earlier step is not settled, so that no step may be taken. */
  readonly step: string | null;
  readonly cause: 'tooSlow' | 'refused';
  /** The API server's words, or which time limit has passed. */
  readonly message: string;
  /** How often in a row, from 1 up. */
  readonly tries: number;
  readonly sinceLastTrySeconds: number;
  /** How long the API server asked to wait; 0 where it did not. */
  readonly retryAfterSeconds: number;
}

/** The MySQLCluster. */
export interface ClusterFacts {
  readonly deleting: boolean;
  readonly generation: number;
  /** `spec.replicas`. */
  readonly replicas: number;
  /** `status.currentPrimaryIndex`: the one truth about who is primary. */
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
  readonly offline: boolean;
  readonly reconciliationStopped: boolean;
  readonly clusteringStopped: boolean;
  readonly forcedRollingUpdate: boolean;
  /** `spec.replicationSourceSecretName` is set: its primary follows another database and is never opened for writes. */
  readonly replicatesFromElsewhere: boolean;
  /** Seconds for which the member at `primaryIndex` has not participated; `null` while it does. */
  readonly primaryAwayForSeconds: number | null;
  /** Seconds for which the primary has participated as what its role label says, without a break; `null` while not. */
  readonly primarySettledForSeconds: number | null;
}

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
  /** MOCO's is Parallel: a next member may go as soon as any of the budget is free. */
  readonly podManagement: 'Parallel' | 'OrderedReady';
  /** Annotation `force-rolling-update` has been copied to it. */
  readonly forcedRollingUpdate: boolean;
  /** It carries the label by which admission keeps it at OnDelete. */
  readonly labelled: boolean;
}

export interface MemberFacts {
  readonly ordinal: number;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  /** Label `controller-revision-hash`. */
  readonly revision: string;
  /** MOCO's role label; it lags behind the index and is absent on a fresh pod. */
  readonly role: 'primary' | 'replica' | null;
  readonly phase: 'Pending' | 'Running' | 'Succeeded' | 'Failed' | 'Unknown';
  /** Condition Ready. */
  readonly ready: boolean;
  /** Ready is False for a readiness gate of the pod, which says nothing about its containers. */
  readonly readinessGateClosed: boolean;
  /** The scheduler's sentence while it finds no node, else `null`. */
  readonly unschedulable: string | null;
  readonly containers: readonly ContainerFacts[];
  readonly initContainers: readonly ContainerFacts[];
  /**
   * Seconds since its deletion was requested with this grace period, and at a grace period of 0, which comes right before
   * the end, since that was seen; `null` while nobody has requested it.
   */
  readonly leavingForSeconds: number | null;
  readonly graceSeconds: number;
  /** Seconds since container mysqld was last seen running; 0 while it runs. */
  readonly mysqldIdleForSeconds: number;
  /** Seconds for which it has participated without a break, in whatever role; `null` while it does not. */
  readonly participatingForSeconds: number | null;
  readonly demote: boolean;
  /** The update revision in our mark beside `demote`, or `null`. */
  readonly demotedFor: string | null;
  /** Seconds for which `demote` has been there; 0 while it is not. */
  readonly demoteForSeconds: number;
  readonly preventDelete: boolean;
}

export interface ContainerFacts {
  readonly name: string;
  /** What the member is without it: `mysqld` is the database, `agent` answers its probes, `side` is negligible. */
  readonly part: 'mysqld' | 'agent' | 'side';
  readonly state: 'waiting' | 'running' | 'terminated';
  /** Of a waiting or terminated container, else `null`. */
  readonly reason: string | null;
  readonly ready: boolean;
  /** Its startup probe has passed since it last started. */
  readonly started: boolean;
  readonly restarts: number;
  /** It has been ready at some moment since its last restart. */
  readonly readySinceRestart: boolean;
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
  /** Evictions that it has counted and whose pods Kubernetes has not seen leave yet (`status.disruptedPods`). */
  readonly awaiting: number;
  /** `spec.maxUnavailable` is 0, as MOCO sets it while a backup runs. */
  readonly closed: boolean;
  /** The API server's sentence when it refused an eviction and this budget has not changed since, else `null`. */
  readonly refusal: string | null;
  /** Seconds since that refusal; 0 without one. */
  readonly refusedForSeconds: number;
}

/** What can't be read from the objects of the moment; kept in the status of MySQLRollout. */
export interface RolloutMemory {
  /** A member at the update revision has participated for minReadySeconds. */
  readonly proven: boolean;
  /** Members that were down already when this rollout took them. */
  readonly takenDown: readonly number[];
  /** Members that came up at the update revision without a step of ours. */
  readonly updatedOutOfTurn: readonly number[];
  /** Seconds since the rollout last moved. */
  readonly sinceProgressSeconds: number;
  /** Switchovers for this update revision that did not come in their time. Other demotions that were taken back are none. */
  readonly switchoverTries: number;
  /** Seconds since the last of them was taken back; 0 without one. */
  readonly sinceLastTrySeconds: number;
  /** Ages in seconds of the update revisions seen within the last ten minutes, each counted once when it came. */
  readonly recentRevisionAgesSeconds: readonly number[];
}
