// The names of MOCO and this program in the API server: labels, annotations, containers, conditions. MOCO's names
// appear only in this folder. They are those of MOCO 0.36.

/** The labels of every MOCO object of a cluster, and the selectors of the PDB and the StatefulSet. */
export const appNameLabel = 'app.kubernetes.io/name';
export const appNameOfMoco = 'mysql';
/** On the Jobs of backups and restores, and on their pods. */
export const appNameOfBackup = 'mysql-backup';
/** Its value is the name of the MySQLCluster. */
export const clusterNameLabel = 'app.kubernetes.io/instance';
export const createdByLabel = 'app.kubernetes.io/created-by';
export const createdByMoco = 'moco';

/** On pods: `primary` or `replica`. It lags behind the MySQLCluster's status and is absent on a new pod. */
export const roleLabel = 'moco.cybozu.com/role';
export const rolePrimary = 'primary';
export const roleReplica = 'replica';

/** Kubernetes' label on the pods of a StatefulSet: the revision that the pod was created from. */
export const revisionHashLabel = 'controller-revision-hash';

/** This program's manager name in `managedFields` of a pod that it has resized. */
export const resizeManager = 'moco-rollout';

/** MOCO's annotations have a meaning only with this value; any other value is ignored. */
export const annotationOn = 'true';
/** On a pod: requests a switchover away from it; MOCO removes it after the switchover. */
export const demoteAnnotation = 'moco.cybozu.com/demote';
/** On the primary's pod: MOCO refuses its deletion while a replica lags too far behind. */
export const preventDeleteAnnotation = 'moco.cybozu.com/prevent-delete';
/** On the MySQLCluster: MOCO leaves roles and replication alone. */
export const clusteringStoppedAnnotation = 'moco.cybozu.com/clustering-stopped';
/** On the MySQLCluster: MOCO leaves the cluster's objects alone. */
export const reconciliationStoppedAnnotation = 'moco.cybozu.com/reconciliation-stopped';
/** On the MySQLCluster, copied by MOCO to the StatefulSet: forces Kubernetes' own rolling update. */
export const forceRollingUpdateAnnotation = 'moco.cybozu.com/force-rolling-update';

export const mysqldContainer = 'mysqld';
/** The volume of a member's data, and its claim template (MOCO 0.36, pkg/constants/container.go). */
export const dataVolume = 'mysql-data';
/** The port of mysqld (MOCO 0.36, pkg/constants/ports.go). */
export const mysqlPort = 3306;
/** The account that MOCO creates for reading, and the key of its password in the cluster's Secret (pkg/password). */
export const readOnlyUser = 'moco-readonly';
export const readOnlyPasswordKey = 'READONLY_PASSWORD';
/** The container that answers mysqld's probes: if it fails, mysqld becomes unready and is restarted. */
export const agentContainer = 'agent';

/** On a StatefulSet, ours: with the value `OnDelete` this program decides when each pod is replaced. */
export const strategyLabel = 'moco-rollout.io/strategy';
export const strategyOnDelete = 'OnDelete';
/**
 * On a StatefulSet with that label, ours: with the value `CurrentRevision` admission keeps it at RollingUpdate with
 * partition = replicas instead of OnDelete, so that new pods start at `status.currentRevision`.
 */
export const newPodsLabel = 'moco-rollout.io/new-pods';
export const newPodsAtCurrentRevision = 'CurrentRevision';
/**
 * On a StatefulSet in dry runs only, ours: our webhook changes its value, so that the result shows whether the webhook
 * or the API server itself keeps the strategy.
 */
export const admissionProbeAnnotation = 'moco-rollout.io/admission-probe';
export const probeSent = 'true';
export const probeSeenByWebhook = 'webhook';
/**
 * On the MySQLCluster, ours: this program has released the cluster until the annotation is removed. MOCO, server-side
 * and client-side apply keep unknown annotations. A tool that replaces the whole object, such as `kubectl replace` or
 * Argo CD with `Replace=true`, drops it: add it to the manifest there.
 */
export const releasedAnnotation = 'moco-rollout.io/released';
/** On a pod, ours: the revision for which this program set `demote`. Without it another user has set `demote`. */
export const demotedForAnnotation = 'moco-rollout.io/demoted-for';
/** On a pod or a StatefulSet, ours: the id of an invalidated step. It changes the object's resourceVersion. */
export const invalidatedIntentAnnotation = 'moco-rollout.io/invalidated-intent';
/** On a pod, ours: which containers an update in place restarts, with their ids before it, as JSON. */
export const restartInPlaceAnnotation = 'moco-rollout.io/restart-in-place';
/** On the claim of a member's data, ours: the newest mysqld that has started on them, as JSON (`data-record.ts`). */
export const dataAnnotation = 'moco-rollout.io/data';
/** On the pods of a preflight, ours: the name of their MySQLCluster. They have no label of MOCO. */
export const preflightLabel = 'moco-rollout.io/preflight';
/** A condition on the MySQLCluster, ours. */
export const rolloutCompleteCondition = 'moco-rollout.io/RolloutComplete';

/** MOCO's webhook configuration. Webhooks run in the order of their names, so the name of ours must sort after it. */
export const mocoWebhookConfiguration = 'moco-mutating-webhook-configuration';
/** MOCO's webhook that keeps partitions; if it is registered, MOCO's own partition controller drives. */
export const mocoStatefulSetWebhook = 'statefulset.kb.io';
/** Our webhook that sets partitions if MOCO has none. */
export const ownPartitionWebhook = 'partition.moco-rollout.io';
/** Our webhook that keeps labelled StatefulSets at OnDelete. */
export const ownWebhook = 'statefulset.moco-rollout.io';
/** The suffix of the names of our webhooks. */
export const ownWebhookSuffix = '.moco-rollout.io';

/** MOCO 0.36 serves only v1beta2. */
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
