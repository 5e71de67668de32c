import { newRollout, type RolloutProgress } from '../../src/api/rollout-progress.ts';
import { clusterKind } from '../../src/moco/names.ts';
import type { Bench, Process } from './bench.ts';

/** What a status tells of a rollout that has begun and done nothing yet. */
export const begunAt = (at: string): RolloutProgress => ({ ...newRollout('another', at), begunAt: at });

/** MOCO moves the primary: the index, then the labels, and its `demote` goes. */
export function switchOver(bench: Bench, from: number, to: number): void {
  bench.changeCluster({ status: { currentPrimaryIndex: to } });
  bench.changePod(to, { metadata: { labels: { 'moco.cybozu.com/role': 'primary' } } });
  bench.changePod(from, {
    metadata: { labels: { 'moco.cybozu.com/role': 'replica' }, annotations: { 'moco.cybozu.com/demote': null } },
  });
}

/** Everything that MOCO and Kubernetes do in a rollout in which nothing goes wrong. */
export async function rollOut(bench: Bench, program: Process): Promise<void> {
  await program.work();
  bench.replace(2);
  await program.work();
  bench.replace(1);
  await program.work();
  switchOver(bench, 0, 1);
  await program.work();
  bench.replace(0);
  await program.work();
}

interface Completion {
  readonly status: string;
  readonly observedGeneration: number;
  readonly lastTransitionTime: string;
}

/** Condition `moco-rollout.io/RolloutComplete` of the MySQLCluster. */
export function completion(bench: Bench): Completion | undefined {
  const { conditions } = bench.server.get(clusterKind, 'test')['status'] as {
    conditions: readonly (Completion & { readonly type: string })[];
  };
  return conditions.find(({ type }) => type === 'moco-rollout.io/RolloutComplete');
}
