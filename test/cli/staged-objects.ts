import { newRollout } from '../../src/api/rollout-progress.ts';
import { type SequenceSpec, sequenceKind } from '../../src/api/rollout-sequence.ts';
import { type RolloutStatus } from '../../src/api/rollout-status.ts';
import { timestampOf } from '../../src/base/json.ts';
import { type FakeCluster, sequencesPath } from './fake-cluster.ts';

/** What a cluster of a stage does. */
export type Doing = 'soaked' | 'complete' | 'waiting' | 'rolling' | 'failing' | 'paused' | 'unknown';

const tier = (name: string) => ({ matchLabels: { tier: name } });

/** Three stages for the clusters of production. */
export const production: SequenceSpec = {
  selector: { matchLabels: { env: 'production' } },
  stages: [
    { name: 'canary', selector: tier('canary'), soakDuration: '24h' },
    { name: 'most', selector: tier('most'), maxConcurrent: '10%', soakDuration: '1h', maxFailures: 2 },
    { name: 'rest', maxConcurrent: '25%' },
  ],
};

export function addSequence(cluster: FakeCluster, name: string, spec: SequenceSpec): void {
  const { group, version, kind } = sequenceKind;
  const { items } = cluster.clusterScoped[sequencesPath] as { readonly items: readonly object[] };
  const metadata = { name, uid: name, resourceVersion: '1', generation: 1, managedFields: [{ manager: 'me' }] };
  cluster.clusterScoped[sequencesPath] = {
    kind: `${kind}List`,
    metadata: { resourceVersion: '1' },
    items: [...items, { apiVersion: `${group}/${version}`, kind, metadata, spec, status: {} }],
  };
}

/** Clusters of production, named by their tier and a number, in the order of what they do. */
export function addClusters(cluster: FakeCluster, ofTier: string, doing: readonly Doing[]): void {
  const now = cluster.bench.world.wall();
  const digits = String(doing.length).length;
  for (const [index, does] of doing.entries()) {
    const name = `${ofTier}-${String(index + 1).padStart(digits, '0')}`;
    const status = does === 'unknown' ? null : statusOf(does, (seconds) => timestampOf(now - seconds * 1000));
    cluster.add(name, status, { env: 'production', tier: ofTier });
  }
}

function statusOf(does: Exclude<Doing, 'unknown'>, ago: (seconds: number) => string): RolloutStatus {
  const updateRevision = 'after';
  if (does === 'soaked') return { updateRevision, completeSince: ago(200_000) };
  if (does === 'complete') return { updateRevision, completeSince: ago(7200) };
  const rollout = { ...newRollout(updateRevision, ago(9000)), lastProgressAt: ago(60) };
  const hold = (rule: 'Paused' | 'AwaitingEarlierStage') => ({ rule, message: 'a message', since: ago(600) });
  switch (does) {
    case 'waiting':
      return { updateRevision, rollout, hold: hold('AwaitingEarlierStage') };
    case 'paused':
      return { updateRevision, rollout, hold: hold('Paused') };
    case 'rolling':
      return { updateRevision, rollout: { ...rollout, begunAt: ago(60) } };
    case 'failing':
      return {
        updateRevision,
        rollout: {
          ...rollout,
          begunAt: ago(900),
          failing: { ordinal: 2, message: 'container mysqld is waiting (CrashLoopBackOff)' },
        },
      };
  }
}
