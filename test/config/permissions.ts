/** What the ServiceAccount may do, and what for. The manifests and the chart grant exactly this. */
export interface Permission {
  readonly group: string;
  readonly resource: string;
  readonly verbs: readonly string[];
  readonly why: string;
}

const watched = ['get', 'list', 'watch'];

export const clusterPermissions: readonly Permission[] = [
  { group: '', resource: 'pods', verbs: watched, why: 'who is stale and who participates' },
  { group: '', resource: 'pods', verbs: ['delete'], why: 'members that are down' },
  { group: '', resource: 'pods', verbs: ['patch'], why: 'demote and its mark' },
  {
    group: '',
    resource: 'persistentvolumeclaims',
    verbs: ['get'],
    why: 'whether the end of a pod would destroy its data',
  },
  { group: '', resource: 'persistentvolumes', verbs: ['get'], why: 'which nodes a volume allows' },
  { group: '', resource: 'nodes', verbs: ['get', 'list'], why: 'whether a node takes the next pod of a member' },
  { group: '', resource: 'pods', verbs: ['create'], why: 'as a dry run, whether the next pod is admitted' },
  { group: '', resource: 'pods/eviction', verbs: ['create'], why: 'members that are healthy' },
  { group: 'apps', resource: 'statefulsets', verbs: watched, why: 'the update revision' },
  { group: 'apps', resource: 'statefulsets', verbs: ['patch'], why: 'the strategy and its label, as a dry run first' },
  { group: 'apps', resource: 'statefulsets/status', verbs: ['patch'], why: 'currentRevision after a rollout' },
  {
    group: 'apps',
    resource: 'controllerrevisions',
    verbs: ['get'],
    why: 'what a rollout changes in the template, and whether lost members can come back at their revision',
  },
  { group: 'policy', resource: 'poddisruptionbudgets', verbs: ['get', 'list', 'watch'], why: 'what may be evicted' },
  { group: 'batch', resource: 'jobs', verbs: ['list', 'watch'], why: 'whether a backup runs' },
  { group: 'moco.cybozu.com', resource: 'mysqlclusters', verbs: watched, why: 'the primary and the health' },
  { group: 'moco.cybozu.com', resource: 'mysqlclusters/status', verbs: ['update'], why: 'our condition' },
  { group: 'moco-rollout.io', resource: 'mysqlrollouts', verbs: watched, why: 'what people want' },
  { group: 'moco-rollout.io', resource: 'mysqlrollouts', verbs: ['create'], why: 'one that is missing' },
  { group: 'moco-rollout.io', resource: 'mysqlrollouts', verbs: ['patch'], why: 'overrides that have ended' },
  { group: 'moco-rollout.io', resource: 'mysqlrollouts/status', verbs: ['update'], why: 'intents and what people see' },
  { group: 'moco-rollout.io', resource: 'mysqlrolloutpolicies', verbs: watched, why: 'what people want of many' },
  { group: 'moco-rollout.io', resource: 'mysqlrolloutpolicies/status', verbs: ['update'], why: 'what they select' },
  { group: 'moco-rollout.io', resource: 'mysqlrolloutsequences', verbs: ['list', 'watch'], why: 'who goes first' },
  { group: 'moco-rollout.io', resource: 'mysqlrolloutsequences/status', verbs: ['update'], why: 'how far it is' },
  { group: '', resource: 'namespaces', verbs: ['list', 'watch'], why: 'the labels by which policies select' },
  { group: 'events.k8s.io', resource: 'events', verbs: ['list'], why: 'why a member can not be made' },
  { group: 'events.k8s.io', resource: 'events', verbs: ['create', 'patch'], why: 'events and their series' },
];

export const leaderElectionPermissions: readonly Permission[] = [
  { group: 'coordination.k8s.io', resource: 'leases', verbs: ['get', 'update'], why: 'the lease, by its name' },
  { group: 'coordination.k8s.io', resource: 'leases', verbs: ['create'], why: 'the lease where there is none' },
];

/** What `release` needs beyond the above. The chart grants it while it is uninstalled. */
export const releasePermissions: readonly Permission[] = [
  { group: 'moco.cybozu.com', resource: 'mysqlclusters', verbs: ['patch'], why: 'the annotation of a release' },
  { group: '', resource: 'namespaces', verbs: ['get'], why: 'the labels by which policies select' },
];
