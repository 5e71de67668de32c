import { type ClusterState, type Snapshot } from './cluster-state.ts';
import { replaceStatus } from './cluster-status.ts';
import { withConditions } from './conditions.ts';
import { isAvailable, isHealthy } from './decisions.ts';
import type { Condition } from './objects.ts';
import { isReady } from './pods.ts';
import type { ReplaceStatus } from './write.ts';

/** What a pass of MOCO's clustering writes into the status before it does anything else; `null` for no change. */
export function clusteringStatus(
  snapshot: Snapshot,
  state: ClusterState,
  wallMilliseconds: number,
): ReplaceStatus | null {
  const { cluster, members, faults } = snapshot;
  const about = { reason: state, message: `the current state is ${state}` };
  const said = (type: string, value: boolean): Omit<Condition, 'lastTransitionTime'> => ({
    type,
    status: value ? 'True' : 'False',
    ...about,
  });
  const wanted = [
    said('Initialized', state !== 'Cloning' && state !== 'Restoring'),
    said('Available', isAvailable(state)),
    said('Healthy', isHealthy(state)),
    { type: 'ClusteringActive', status: 'True' as const, reason: 'ClusteringActive', message: 'clustering is active' },
  ];
  const cloned = cluster.spec.replicationSourceSecretName !== undefined && state !== 'Cloning';
  return replaceStatus(cluster, {
    ...cluster.status,
    conditions: withConditions(cluster.status, wanted, wallMilliseconds),
    syncedReplicas: members.filter(isReady).length,
    errantReplicas: faults.errant.length,
    errantReplicaList: [...faults.errant].sort((left, right) => left - right),
    ...(cloned ? { cloned } : {}),
  });
}
