import { isOwnOf } from '../../api/rollout.ts';
import { nameOf, splitKey } from '../../kube/store.ts';
import { type Cache, ownerKey } from '../../objects/cache.ts';
import { type NamespaceShare, namespaceShare } from '../facts/policy-layers.ts';
import type { Fleet } from './fleet-limits.ts';

/**
 * Reports to the fleet each MySQLCluster that exists and is not being deleted, with its MySQLRollout. Also reports the
 * MySQLRolloutSequences, and the shares that policies set for namespaces. A MySQLRollout without such a MySQLCluster is
 * not reported: no step is in progress for it, and its rollout would never end.
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
    // The MySQLCluster is reported before its MySQLRollout, because a stage has to know in which state a deleted
    // cluster was.
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

/** The share of the slots that a policy sets for a namespace, or `null`. */
export function shareOf(cache: Pick<Cache, 'settingsSources'>, namespace: string): NamespaceShare | null {
  const { policies, cluster } = cache.settingsSources({ namespace, labels: {} });
  return namespaceShare(policies, cluster);
}
