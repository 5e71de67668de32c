import { isOwnOf } from '../../api/rollout.ts';
import { nameOf, splitKey } from '../../kube/store.ts';
import { type Cache, ownerKey } from '../../objects/cache.ts';
import { type NamespaceShare, namespaceShare } from '../facts/policy-layers.ts';
import type { Fleet } from './fleet-limits.ts';

/**
 * Reports to the fleet each MySQLCluster that exists and is not being deleted, with its MySQLRollout, the
 * MySQLRolloutSequences, and the shares of namespaces that policies set. A MySQLRollout without such a cluster has
 * nothing in progress and would never end.
 */
export function followFleet(
  cache: Pick<Cache, 'clusters' | 'rollouts' | 'statefulSets' | 'sequences' | 'onShareChange' | 'settingsSources'>,
  fleet: Pick<Fleet, 'note' | 'stages' | 'setNamespaceShares'>,
): void {
  const { clusters, rollouts, statefulSets, sequences } = cache;
  const noteShares = (): void => fleet.setNamespaceShares((namespace) => shareOf(cache, namespace));
  noteShares();
  cache.onShareChange(noteShares);
  const note = (key: string): void => {
    const [namespace, name] = splitKey(key);
    const cluster = clusters.get(namespace, name);
    const exists = cluster !== undefined && !cluster.deleting;
    const record = rollouts.get(namespace, name);
    const rollout = record?.partial ? undefined : record?.object;
    const updateRevision = statefulSets.by('cluster', key)[0]?.updateRevision || null;
    // Reported before its MySQLRollout: the state in which a cluster was deleted matters to its stage.
    fleet.stages.noteCluster(key, exists ? { labels: cluster.labels, offline: cluster.offline, updateRevision } : null);
    fleet.note(key, exists && rollout && isOwnOf(cluster, rollout) ? rollout : null);
  };
  const own = (changed: { readonly namespace: string; readonly name: string } | null): void => {
    if (changed !== null) note(nameOf(changed));
  };
  rollouts.subscribe(({ before, after }) => own(after ?? before));
  clusters.subscribe(({ before, after }) => own(after ?? before));
  statefulSets.subscribe(({ before, after }) => {
    if (before?.updateRevision === after?.updateRevision) return;
    for (const one of [before, after]) if (one !== null) note(ownerKey(one));
  });
  sequences.subscribe(({ before, after }) => fleet.stages.noteSequence((after ?? before)?.name ?? '', after));
}

/** The share of the slots that policies set for a namespace, or `null`. */
export function shareOf(cache: Pick<Cache, 'settingsSources'>, namespace: string): NamespaceShare | null {
  const { policies, cluster } = cache.settingsSources({ namespace, labels: {} });
  return namespaceShare(policies, cluster);
}
