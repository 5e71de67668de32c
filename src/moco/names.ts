// The names of MOCO and this program in the API server: labels, annotations, containers, conditions. MOCO's names
// appear only in this folder. They are valid for MOCO 0.36.

/**
 * The labels of every object that MOCO creates for a cluster. The PDB and the StatefulSet select pods by these labels.
 */
export const appNameLabel = 'app.kubernetes.io/name';
export const appNameOfMoco = 'mysql';
/** The value of `app.kubernetes.io/name` on the Jobs of backups and restores, and on their pods. */
export const appNameOfBackup = 'mysql-backup';
/** The value is the name of the MySQLCluster. */
export const clusterNameLabel = 'app.kubernetes.io/instance';
export const createdByLabel = 'app.kubernetes.io/created-by';
export const createdByMoco = 'moco';

/**
 * The label on pods with the value `primary` or `replica`. It lags behind the MySQLCluster's status and is absent on a
 * new pod.
 */
export const roleLabel = 'moco.cybozu.com/role';
export const rolePrimary = 'primary';
export const roleReplica = 'replica';

/** Kubernetes' label on the pods of a StatefulSet: the revision that the pod was created from. */
export const revisionHashLabel = 'controller-revision-hash';

/** This program's manager name in `managedFields` of a pod that it has resized. */
export const resizeManager = 'moco-rollout';

/** The value that turns on an annotation of MOCO. MOCO ignores any other value. */
export const annotationOn = 'true';
/** The annotation on a pod that requests a switchover away from it. MOCO removes it after the switchover. */
export const demoteAnnotation = 'moco.cybozu.com/demote';
/** The annotation on the primary's pod with which MOCO refuses its deletion while a replica lags too far behind. */
export const preventDeleteAnnotation = 'moco.cybozu.com/prevent-delete';
/** The annotation on the MySQLCluster that stops MOCO from changing roles and replication. */
export const clusteringStoppedAnnotation = 'moco.cybozu.com/clustering-stopped';
/** The annotation on the MySQLCluster that stops MOCO from changing the cluster's objects. */
export const reconciliationStoppedAnnotation = 'moco.cybozu.com/reconciliation-stopped';
/** The annotation on the MySQLCluster that forces Kubernetes' own rolling update. MOCO copies it to the StatefulSet. */
export const forceRollingUpdateAnnotation = 'moco.cybozu.com/force-rolling-update';

export const mysqldContainer = 'mysqld';
/** The volume of a member's data, and its claim template (MOCO 0.36, pkg/constants/container.go). */
export const dataVolume = 'mysql-data';
/** The port of mysqld (MOCO 0.36, pkg/constants/ports.go). */
export const mysqlPort = 3306;
/** The account that MOCO creates for reading, and the key of its password in the cluster's Secret (pkg/password). */
export const readOnlyUser = 'moco-readonly';
export const readOnlyPasswordKey = 'READONLY_PASSWORD';
/** The container that answers mysqld's probes. If it fails, mysqld becomes unready and is restarted. */
export const agentContainer = 'agent';

/** Our label on a StatefulSet. With the value `OnDelete` this program decides when each pod is replaced. */
export const strategyLabel = 'moco-rollout.io/strategy';
export const strategyOnDelete = 'OnDelete';
/**
 * Our second label on such a StatefulSet. With the value `CurrentRevision` admission keeps it at RollingUpdate with
 * partition = replicas instead of OnDelete, so that new pods start at `status.currentRevision`.
 */
export const newPodsLabel = 'moco-rollout.io/new-pods';
export const newPodsAtCurrentRevision = 'CurrentRevision';
/**
 * Our annotation on a StatefulSet, in dry runs only. Our webhook changes its value. So the result shows whether the
 * strategy is kept by the webhook or by the API server itself.
 */
export const admissionProbeAnnotation = 'moco-rollout.io/admission-probe';
export const probeSent = 'true';
export const probeSeenByWebhook = 'webhook';
/**
 * Our annotation on the MySQLCluster: this program has released the cluster until the annotation is removed. MOCO and
 * both kinds of apply, server-side and client-side, keep unknown annotations. A tool that replaces the whole object,
 * such as `kubectl replace` or Argo CD with `Replace=true`, removes this annotation unless the manifest contains it.
 */
export const releasedAnnotation = 'moco-rollout.io/released';
/**
 * Our annotation on a pod: the revision for which this program set `demote`. If it is missing, a person or another
 * program has set `demote`.
 */
export const demotedForAnnotation = 'moco-rollout.io/demoted-for';
/**
 * Our annotation on a pod or a StatefulSet: the id of an invalidated step. Writing it changes the object's
 * resourceVersion.
 */
export const invalidatedIntentAnnotation = 'moco-rollout.io/invalidated-intent';
/**
 * Our annotation on a pod: which containers an update in place restarts, with their ids before the restart, as JSON.
 */
export const restartInPlaceAnnotation = 'moco-rollout.io/restart-in-place';
/**
 * Our annotation on the claim of a member's data: the newest mysqld that has started on the data, as JSON
 * (`data-record.ts`).
 */
export const dataAnnotation = 'moco-rollout.io/data';
/** Our label on the pods of a preflight: the name of their MySQLCluster. These pods have none of MOCO's labels. */
export const preflightLabel = 'moco-rollout.io/preflight';
/** Our condition on the MySQLCluster. */
export const rolloutCompleteCondition = 'moco-rollout.io/RolloutComplete';

/**
 * MOCO's webhook configuration. Webhooks run in the order of their names, so the name of our webhook must sort after
 * it.
 */
export const mocoWebhookConfiguration = 'moco-mutating-webhook-configuration';
/** MOCO's webhook that resets partitions. If it is registered, MOCO's own partition controller lowers them. */
export const mocoStatefulSetWebhook = 'statefulset.kb.io';
/** Our webhook that resets partitions if MOCO has no such webhook. */
export const ownPartitionWebhook = 'partition.moco-rollout.io';
/** Our webhook that keeps labelled StatefulSets at OnDelete. */
export const ownWebhook = 'statefulset.moco-rollout.io';
/** The suffix of the names of our webhooks. */
export const ownWebhookSuffix = '.moco-rollout.io';

/** MOCO 0.36 serves only the version v1beta2. */
export const clusterKind = {
  group: 'moco.cybozu.com',
  version: 'v1beta2',
  plural: 'mysqlclusters',
  kind: 'MySQLCluster',
  namespaced: true,
} as const;

/** The ValidatingAdmissionPolicy of config/rbac that compares changes of pods with their StatefulSet. */
export const podPolicy = 'controller-pods.moco-rollout.io';

/** Selects the Deployment of this program's controller, in the chart and in config. */
export const controllerSelector = 'app.kubernetes.io/part-of=moco-rollout';
/** Selects the Deployment of moco-controller, by a label of MOCO's chart. */
export const mocoControllerSelector = 'app.kubernetes.io/component=moco-controller';

/** The ordinal in the name of a StatefulSet's pod. */
export const ordinalOf = (name: string): number => Number(name.slice(name.lastIndexOf('-') + 1));

const prefix = 'moco-';

/** The name that a cluster's StatefulSet, PodDisruptionBudget and headless Service share. */
export const statefulSetName = (clusterName: string): string => `${prefix}${clusterName}`;

/**
 * The hash at the end of a revision's name: `5897fd84f8` for `moco-test-5897fd84f8`. Users see it in the labels of
 * pods.
 */
export function revisionHash(revision: string, clusterName: string): string {
  const stem = `${statefulSetName(clusterName)}-`;
  return revision.startsWith(stem) ? revision.slice(stem.length) : revision;
}

/** The name of the Job by which MOCO restores a new cluster. It has the labels of a backup. */
export const restoreName = (clusterName: string): string => `${prefix}restore-${clusterName}`;

/** The label selector for the pods and StatefulSets that MOCO creates for members. */
export const memberSelector = `${createdByLabel}=${createdByMoco},${appNameLabel}=${appNameOfMoco}`;
export const createdBySelector = `${createdByLabel}=${createdByMoco}`;
/**
 * The label selector for the Jobs of backups and restores. A person can create a Job from MOCO's CronJob; such a Job
 * has the labels of the CronJob's template (MOCO 0.36, `labelSetForJob`).
 */
export const jobSelector = `${createdBySelector},${appNameLabel}=${appNameOfBackup}`;
/** The same selector, limited to one cluster. */
export const jobSelectorOf = (clusterName: string): string => `${jobSelector},${clusterNameLabel}=${clusterName}`;
