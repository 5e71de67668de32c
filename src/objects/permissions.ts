import { usualLease } from '../moco/lease-place.ts';
import { clusterKind } from '../moco/names.ts';

// The rights of the controller. The roles, the chart, the table in docs/security.md and `kubectl moco-rollout check`
// are derived from this list.

/**
 * Every right of the controller: its purpose, the code that uses it, and the rules of the admission policies that
 * confine it. `make docs` writes the roles of `config/rbac`, those of the chart and the table of docs/security.md from
 * this list, and `check` looks for these rights. test/config/permissions.test.ts compares everything else with the
 * list.
 */
export interface Permission {
  readonly group: string;
  readonly resource: string;
  readonly verbs: readonly string[];
  /** If set, RBAC grants the right only for objects with these names. */
  readonly names?: readonly string[];
  /** The purpose of the right: a phrase that starts with a verb and has no full stop. */
  readonly why: string;
  /** Where `src` uses the right, as `file:word`. */
  readonly usedBy: readonly string[];
  /** For a write: how the messages begin with which the policies of `config/rbac` refuse every other write. */
  readonly confinedBy?: readonly string[];
  /**
   * The right concerns objects without a namespace. A controller that is limited to some namespaces works without the
   * right.
   */
  readonly isOfWholeCluster?: true;
  /** The right would allow too much without the admission policies, so it is granted only together with them. */
  readonly needsPolicy?: true;
}

const watched = ['get', 'list', 'watch'];
const metadata = [
  'moco-rollout changes no owner and no finalizer',
  'moco-rollout removes no record',
  'moco-rollout changes no label but',
  'moco-rollout changes no annotation but',
  'moco-rollout changes few labels and annotations',
];

export const clusterPermissions: readonly Permission[] = [
  {
    group: '',
    resource: 'pods',
    verbs: watched,
    why: 'find who is stale and who participates',
    usedBy: ['objects/cache.ts:pods', 'objects/cluster-reader.ts:readNamed'],
  },
  {
    group: '',
    resource: 'pods',
    verbs: ['delete'],
    why: 'replace members that are down, and end preflights',
    usedBy: ['objects/cluster-client.ts:deletePod', 'objects/cluster-client.ts:deletePreflightPod'],
    confinedBy: [
      'moco-rollout changes only what MOCO has made',
      'moco-rollout deletes pods with their own grace',
      'moco-rollout deletes pods in the background',
      'moco-rollout deletes no member that is Ready',
    ],
  },
  {
    group: '',
    resource: 'pods',
    verbs: ['patch'],
    why: 'set and remove `demote` and its mark, invalidate an earlier write, and update in place',
    usedBy: ['objects/cluster-client.ts:annotate', 'objects/cluster-client.ts:updateInPlace'],
    confinedBy: [
      'moco-rollout changes only what MOCO has made',
      ...metadata,
      'moco-rollout sets demote to true',
      'moco-rollout changes nothing in the spec of a pod',
      'moco-rollout changes nothing in the spec of a pod but',
      'moco-rollout changes the image of an init container',
      'moco-rollout sets a label of a running pod',
      'moco-rollout removes no label of a running pod',
      'moco-rollout sets an annotation of a running pod',
      'moco-rollout removes no annotation of a running pod',
      'moco-rollout sets the image of a container',
    ],
  },
  {
    group: '',
    resource: 'pods/eviction',
    verbs: ['create'],
    why: 'replace members that are healthy, as far as budgets allow',
    usedBy: ['objects/cluster-client.ts:evictPod'],
    confinedBy: ['moco-rollout evicts members with their own grace', 'moco-rollout evicts the members of MOCO'],
  },
  {
    group: '',
    resource: 'pods',
    verbs: ['create'],
    why: 'find by a dry run whether the next pod of a member is admitted, and fetch images on nodes where `config/preflight` allows it',
    usedBy: ['objects/cluster-reader.ts:tryToCreatePod', 'objects/cluster-client.ts:createPreflightPod'],
    confinedBy: [
      'moco-rollout changes only what MOCO has made',
      'moco-rollout creates pods of members as dry runs',
      'the dry run of a member has the ServiceAccount',
      'the dry run of a member is that of the StatefulSet',
      'moco-rollout creates pods with at most',
      'moco-rollout creates the pods of a preflight where',
      'the pod of a preflight has at most',
      'the pod of a preflight has two labels',
      'the pod of a preflight has no field',
      'the pod of a preflight goes through the scheduler',
      'the pod of a preflight names one node',
      'the pod of a preflight has images',
      'the pod of a preflight is one mysqld',
      'the second container of a preflight',
      'the pod of a preflight has limits',
      'the pod of a preflight is not root',
      'the pod of a preflight has the ServiceAccount',
      'the pod of a preflight tolerates',
    ],
    needsPolicy: true,
  },
  {
    group: '',
    resource: 'persistentvolumeclaims',
    verbs: ['get'],
    why: 'find out whether deleting a pod would destroy its data',
    usedBy: ['kube/resource.ts:persistentVolumeClaims'],
  },
  {
    group: '',
    resource: 'persistentvolumeclaims',
    verbs: ['patch'],
    why: "note which mysqld has started on a member's data",
    usedBy: ['objects/cluster-client.ts:noteData'],
    confinedBy: [...metadata, 'moco-rollout notes the revision of the data'],
    needsPolicy: true,
  },
  {
    group: 'apps',
    resource: 'statefulsets',
    verbs: watched,
    why: 'find the update revision',
    usedBy: ['objects/cache.ts:statefulSets'],
  },
  {
    group: 'apps',
    resource: 'statefulsets',
    verbs: ['patch'],
    why: 'set the strategy and its label, with dry runs first, and lower the partition',
    usedBy: ['objects/cluster-client.ts:patchStatefulSet'],
    confinedBy: [
      'moco-rollout changes only what MOCO has made',
      ...metadata,
      'moco-rollout sets its labels of a StatefulSet',
      'moco-rollout changes nothing in the spec of a StatefulSet',
      'moco-rollout sets OnDelete, or a partition',
    ],
  },
  {
    group: 'apps',
    resource: 'statefulsets/status',
    verbs: ['patch'],
    why: 'set `currentRevision` after a rollout',
    usedBy: ['objects/cluster-client.ts:promoteRevision'],
    confinedBy: [
      'moco-rollout changes only what MOCO has made',
      ...metadata,
      'moco-rollout changes the current revision in the status',
    ],
  },
  {
    group: 'apps',
    resource: 'controllerrevisions',
    verbs: ['get'],
    why: 'find what a rollout changes in the template, and whether lost members can come back at their revision',
    usedBy: ['objects/cluster-reader.ts:readTemplate'],
  },
  {
    group: 'policy',
    resource: 'poddisruptionbudgets',
    verbs: watched,
    why: 'find what may be evicted',
    usedBy: ['objects/cache.ts:podDisruptionBudgets'],
  },
  {
    group: 'batch',
    resource: 'jobs',
    verbs: ['list', 'watch'],
    why: 'find whether a backup runs, no matter who has begun it',
    usedBy: ['objects/watches.ts:jobs'],
  },
  {
    group: clusterKind.group,
    resource: 'mysqlclusters',
    verbs: watched,
    why: 'find the primary and the health',
    usedBy: ['objects/cache.ts:clusterKind'],
  },
  {
    group: clusterKind.group,
    resource: 'mysqlclusters/status',
    verbs: ['update'],
    why: 'set the condition `moco-rollout.io/RolloutComplete`',
    usedBy: ['objects/status-client.ts:changeConditions'],
    confinedBy: [
      ...metadata,
      'moco-rollout changes one condition of a MySQLCluster',
      'moco-rollout sets its condition once',
    ],
  },
  {
    group: 'moco-rollout.io',
    resource: 'mysqlrollouts',
    verbs: watched,
    why: 'find what people want',
    usedBy: ['objects/cache.ts:rolloutKind'],
  },
  {
    group: 'moco-rollout.io',
    resource: 'mysqlrollouts',
    verbs: ['create'],
    why: 'create the one of a cluster where it is missing',
    usedBy: ['objects/status-client.ts:createRollout'],
    confinedBy: ['moco-rollout creates MySQLRollouts without settings'],
  },
  {
    group: 'moco-rollout.io',
    resource: 'mysqlrollouts',
    verbs: ['patch'],
    why: 'remove overrides that have ended',
    usedBy: ['objects/status-client.ts:applyRollout'],
    confinedBy: [...metadata, 'moco-rollout changes no setting'],
  },
  {
    group: 'moco-rollout.io',
    resource: 'mysqlrollouts/status',
    verbs: ['update'],
    why: 'record intents, and show what happens',
    usedBy: ['objects/status-client.ts:replaceRolloutStatus'],
    confinedBy: metadata,
  },
  {
    group: 'events.k8s.io',
    resource: 'events',
    verbs: ['list'],
    why: "find why Kubernetes can't create a member",
    usedBy: ['objects/cluster-reader.ts:readCreateFailure'],
  },
  {
    group: 'events.k8s.io',
    resource: 'events',
    verbs: ['create', 'patch'],
    why: 'report what happens, and count what repeats',
    usedBy: ['kube/event-recorder.ts:create', 'kube/event-recorder.ts:seriesPatch'],
    confinedBy: [...metadata, 'moco-rollout reports Events', 'moco-rollout creates Events and its lease'],
  },
  {
    group: '',
    resource: 'persistentvolumes',
    verbs: ['get'],
    why: 'find which nodes a volume allows, and whether it still has the data of a member',
    usedBy: ['kube/resource.ts:persistentVolumes'],
    isOfWholeCluster: true,
  },
  {
    group: 'coordination.k8s.io',
    resource: 'leases',
    verbs: ['get'],
    names: [usualLease.name],
    why: 'see whether moco-controller works',
    usedBy: ['controller/questions/moco-lease.ts:leases'],
    isOfWholeCluster: true,
  },
  {
    group: '',
    resource: 'nodes',
    verbs: watched,
    why: 'find whether a node takes the next pod of a member, and which nodes are being taken out of service',
    usedBy: ['objects/cluster-reader.ts:listNodes', 'objects/cluster-reader.ts:readImage', 'objects/cache.ts:nodes'],
    isOfWholeCluster: true,
  },
  {
    group: 'moco-rollout.io',
    resource: 'mysqlrolloutpolicies',
    verbs: watched,
    why: 'find what people want of many clusters',
    usedBy: ['objects/cache.ts:policyKind'],
    isOfWholeCluster: true,
  },
  {
    group: 'moco-rollout.io',
    resource: 'mysqlrolloutpolicies/status',
    verbs: ['update'],
    why: 'show what they select',
    usedBy: ['objects/status-client.ts:replaceStatus'],
    confinedBy: metadata,
    isOfWholeCluster: true,
  },
  {
    group: 'moco-rollout.io',
    resource: 'mysqlrolloutsequences',
    verbs: ['list', 'watch'],
    why: 'find which clusters go first',
    usedBy: ['objects/cache.ts:sequenceKind'],
    isOfWholeCluster: true,
  },
  {
    group: 'moco-rollout.io',
    resource: 'mysqlrolloutsequences/status',
    verbs: ['update'],
    why: 'show their progress',
    usedBy: ['objects/status-client.ts:replaceStatus'],
    confinedBy: metadata,
    isOfWholeCluster: true,
  },
  {
    group: '',
    resource: 'namespaces',
    verbs: ['list', 'watch'],
    why: 'find the labels by which policies select',
    usedBy: ['objects/watches.ts:namespaces'],
    isOfWholeCluster: true,
  },
];

/** These rights are granted only in the namespace of the installation. */
export const leaderElectionPermissions: readonly Permission[] = [
  {
    group: 'coordination.k8s.io',
    resource: 'leases',
    verbs: ['get', 'update'],
    names: ['moco-rollout'],
    why: 'elect one leader',
    usedBy: ['kube/lease-elector.ts:leases'],
    confinedBy: [...metadata, 'moco-rollout has one lease'],
  },
  {
    group: 'coordination.k8s.io',
    resource: 'leases',
    verbs: ['create'],
    why: "create the lease where there is none: RBAC can't bind that to a name",
    usedBy: ['kube/lease-elector.ts:leases'],
    confinedBy: ['moco-rollout has one lease', 'moco-rollout creates Events and its lease'],
  },
];

/** These rights are for the feature gate `InPlaceUpdate` (config/in-place). */
export const inPlacePermissions: readonly Permission[] = [
  {
    group: '',
    resource: 'pods/resize',
    verbs: ['patch'],
    why: 'give containers of a running pod the CPU and memory of the update revision',
    usedBy: ['objects/cluster-client.ts:resizePod'],
    confinedBy: [
      'moco-rollout changes only what MOCO has made',
      ...metadata,
      'moco-rollout lowers no memory limit of mysqld',
      'moco-rollout sets the resources of a container',
      'moco-rollout removes no limit and no request',
    ],
  },
];

/** These rights are for the feature gate `EvictionRequests` (config/eviction-requests). */
export const evictionRequestPermissions: readonly Permission[] = [
  {
    group: 'lifecycle.k8s.io',
    resource: 'evictions',
    verbs: ['list', 'watch'],
    why: 'find which members have to leave their nodes because their eviction was requested',
    usedBy: ['objects/cache.ts:evictionKind'],
  },
  {
    group: 'lifecycle.k8s.io',
    resource: 'evictions/status',
    verbs: ['patch'],
    why: 'report whether such a member may go',
    usedBy: ['evictions/eviction-client.ts:applyEntry'],
    confinedBy: [...metadata, 'moco-rollout changes its own entry'],
  },
];

/** The additional rights that `release` needs. The chart grants them while it is being uninstalled. */
export const releasePermissions: readonly Permission[] = [
  {
    group: clusterKind.group,
    resource: 'mysqlclusters',
    verbs: ['patch'],
    why: 'annotate a MySQLCluster that is released',
    usedBy: ['cli/cluster/release-cluster.ts:releasedAnnotation'],
    confinedBy: [...metadata, 'moco-rollout changes one condition of a MySQLCluster'],
  },
  {
    group: '',
    resource: 'namespaces',
    verbs: ['get'],
    why: 'find the labels by which policies select',
    usedBy: ['cli/cluster/cluster-snapshot.ts:projectNamespace'],
  },
];
