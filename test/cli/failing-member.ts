import type { RolloutProgress } from '../../src/api/rollout-progress.ts';
import { revisionAfter, revisionBefore } from '../controller/moco-objects.ts';
import type { FakeCluster } from './fake-cluster.ts';

const at = '2026-07-01T11:00:00Z';

export const imagePath = 'spec.containers[mysqld].image';

/** A rollout as a controller records it, of another image of the same series. */
export const progress: RolloutProgress = {
  revision: revisionAfter,
  from: revisionBefore,
  startedAt: at,
  lastProgressAt: at,
  disruptions: 1,
  switchovers: 0,
  verified: false,
  takenDown: [],
  waiting: [0, 1],
  changes: [{ path: imagePath, from: 'mysql:8.4.7', to: 'mysql:8.4.8' }],
};

/** mysqld of moco-test-2 crashes at the update revision, without a controller at work. */
export function fails({ bench }: FakeCluster, rollout: Partial<RolloutProgress> = {}, strategy = 'OnDelete'): void {
  bench.replace(2, { ready: false });
  bench.mysqld(2, 'CrashLoopBackOff');
  bench.changeRollout({ status: { strategy, phase: 'Failing', rollout: { ...progress, ...rollout } } });
}
