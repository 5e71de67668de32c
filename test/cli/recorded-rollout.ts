import { rolloutKind } from '../../src/api/rollout.ts';
import { events } from '../../src/kube/resource.ts';
import type { FakeCluster } from './fake-cluster.ts';

/** A timestamp so many seconds after the recorded rollout started. */
export const at = (seconds: number): string => new Date(Date.UTC(2026, 6, 1, 12, 0, seconds)).toISOString();

export const recordedHistory = [
  {
    revision: 'moco-test-7966559688',
    from: 'moco-test-5897fd84f8',
    startedAt: at(0),
    finishedAt: at(120),
    disruptions: 3,
    switchovers: 1,
    switchoverSeconds: 4,
    heldFor: [{ rule: 'BackupRunning', seconds: 15 }],
    outcome: 'Complete',
    memberDurations: [
      { ordinal: 0, seconds: 30 },
      { ordinal: 1, seconds: 31 },
      { ordinal: 2, seconds: 29 },
    ],
    changes: [{ path: 'spec.containers[mysqld].image', from: 'mysql:8.4.8', to: '<script>alert(1)</script>' }],
  },
];

/** What is left in a cluster of a rollout of three members that took two minutes, ten minutes after it started. */
export function recordRollout(cluster: FakeCluster): void {
  cluster.bench.world.freeze(600_000);
  cluster.server.change(rolloutKind, 'test', { status: { phase: 'UpToDate', history: recordedHistory } });
  const pod = (ordinal: number): object => ({ related: { kind: 'Pod', name: `moco-test-${ordinal}` } });
  tell(cluster, 'Evicted', 5, 'evicting moco-test-2', { action: 'ReplicaHealthy', ...pod(2) });
  tell(cluster, 'Evicted', 40, 'evicting moco-test-1', { action: 'ReplicaHealthy', ...pod(1) });
  tell(cluster, 'AwaitingSwitchover', 75, 'asked MOCO to move the primary', { action: 'Waiting' });
  tell(cluster, 'Demoted', 74, 'asking MOCO to move the primary away', { action: 'PrimaryLast', ...pod(0) });
  tell(cluster, 'Evicted', 80, 'evicting moco-test-0', { action: 'ReplicaHealthy', ...pod(0) });
  tell(cluster, 'Evicted', 500, 'evicting moco-test-2 of another rollout', pod(2));
}

export function tell({ server }: FakeCluster, reason: string, seconds: number, note: string, more: object = {}): void {
  server.create(events, {
    metadata: { name: `${reason}-${seconds}` },
    reason,
    eventTime: at(seconds),
    note,
    regarding: { kind: 'MySQLCluster', name: 'test' },
    ...more,
  });
}
