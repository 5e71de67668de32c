/**
 * The names by which MOCO and this program know things in the API server: labels, annotations, containers,
 * conditions. Nothing outside this folder spells one of MOCO's. MOCO's are those of MOCO 0.36.
 */

/** Every MOCO object of a cluster carries these three; the PDB's and the StatefulSet's selectors are made of them. */
export const appNameLabel = 'app.kubernetes.io/name';
export const appNameOfMoco = 'mysql';
/** Its value is the MySQLCluster's name. */
export const clusterNameLabel = 'app.kubernetes.io/instance';
export const createdByLabel = 'app.kubernetes.io/created-by';
export const createdByMoco = 'moco';

/** On pods: `primary` or `replica`. Lags behind the MySQLCluster's status and is absent on a fresh pod. */
export const roleLabel = 'moco.cybozu.com/role';
export const rolePrimary = 'primary';
export const roleReplica = 'replica';

/** Kubernetes' own label on the pods of a StatefulSet: the revision whose template the pod was made from. */
export const revisionHashLabel = 'controller-revision-hash';

/** MOCO's annotations mean something only with this value; every other value is as good as none. */
export const annotationOn = 'true';
/** On a pod: asks MOCO to move the primary away from it; MOCO removes it when that is done. */
export const demoteAnnotation = 'moco.cybozu.com/demote';
/** On the primary's pod: MOCO refuses its deletion while a replica lags too far behind. */
export const preventDeleteAnnotation = 'moco.cybozu.com/prevent-delete';
/** On the MySQLCluster: MOCO leaves roles and replication alone. */
export const clusteringStoppedAnnotation = 'moco.cybozu.com/clustering-stopped';
/** On the MySQLCluster: MOCO leaves the cluster's objects alone. */
export const reconciliationStoppedAnnotation = 'moco.cybozu.com/reconciliation-stopped';
/** On the MySQLCluster, copied by MOCO to the StatefulSet: Kubernetes' own rolling update is to run. */
export const forceRollingUpdateAnnotation = 'moco.cybozu.com/force-rolling-update';

export const mysqldContainer = 'mysqld';
/** Answers mysqld's probes: when it is dead, mysqld turns not ready and is restarted. */
export const agentContainer = 'agent';

/** On a StatefulSet, ours: with the value `OnDelete` this program decides which pod is replaced when. */
export const strategyLabel = 'moco-rollout.io/strategy';
export const strategyOnDelete = 'OnDelete';
/** On a pod, ours: the revision for which this program set `demote`. Without this mark a demote is somebody else's. */
export const demotedForAnnotation = 'moco-rollout.io/demoted-for';
/** On a pod or a StatefulSet, ours: the id of a step that is not to happen; it changes the object's resourceVersion. */
export const voidedIntentAnnotation = 'moco-rollout.io/voided-intent';
/** A condition on the MySQLCluster, ours. */
export const rolloutCompleteCondition = 'moco-rollout.io/RolloutComplete';

/** MOCO's webhook configuration; ours must have a name that sorts after it, since they run in the order of names. */
export const mocoWebhookConfiguration = 'moco-mutating-webhook-configuration';
/** The webhook in it that keeps partitions; where it is registered MOCO's own partition controller drives. */
export const mocoStatefulSetWebhook = 'statefulset.kb.io';
/** Our webhook that sets partitions, where MOCO has none for it. */
export const ownPartitionWebhook = 'partition.moco-rollout.io';
/** Our webhook that keeps labelled StatefulSets at OnDelete. */
export const ownWebhook = 'statefulset.moco-rollout.io';
/** What the names of our own webhooks end in. */
export const ownWebhookSuffix = '.moco-rollout.io';

/** The resource itself; MOCO 0.36 serves v1beta2 alone. */
export const clusterKind = {
  group: 'moco.cybozu.com',
  version: 'v1beta2',
  plural: 'mysqlclusters',
  kind: 'MySQLCluster',
  namespaced: true,
} as const;
