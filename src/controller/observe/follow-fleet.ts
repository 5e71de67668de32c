import { isOwnOf } from '../../api/rollout.ts';
import { type Cache, keyOf } from './cache.ts';
import type { Fleet } from './fleet.ts';

/**
 * Tells the fleet about the MySQLRollout of each MySQLCluster that exists and is not being deleted. Any other
 * MySQLRollout has nothing in progress and would never end.
 */
export function followRollouts(
  { clusters, rollouts }: Pick<Cache, 'clusters' | 'rollouts'>,
  fleet: Pick<Fleet, 'note'>,
): void {
  const note = (changed: { readonly namespace: string; readonly name: string } | null): void => {
    if (changed === null) return;
    const { namespace, name } = changed;
    const cluster = clusters.get(namespace, name);
    const record = rollouts.get(namespace, name);
    const rollout = record?.partial ? undefined : record?.object;
    const counts = cluster && !cluster.deleting && rollout && isOwnOf(cluster, rollout);
    fleet.note(keyOf(namespace, name), counts ? rollout : null);
  };
  rollouts.subscribe(({ before, after }) => note(after ?? before));
  clusters.subscribe(({ before, after }) => note(after ?? before));
}
