import { newRollout, type RolloutProgress } from '../../src/api/rollout-progress.ts';
import { pods } from '../../src/kube/resource.ts';
import { clusterKind } from '../../src/moco/names.ts';
import type { Bench, Process } from './bench.ts';

/** What a status tells of a rollout that has begun and done nothing yet. */
export const begunAt = (at: string): RolloutProgress => ({ ...newRollout('another', at), begunAt: at });

/** MOCO moves the primary: the index, then the labels, and its `demote` goes. */
export function switchOver({ server }: Pick<Bench, 'server'>, from: number, to: number, name = 'test'): void {
  const labelled = (ordinal: number, role: string, annotations = {}): void =>
    void server.change(pods, `moco-${name}-${ordinal}`, {
      metadata: { labels: { 'moco.cybozu.com/role': role }, annotations },
    });
  server.change(clusterKind, name, { status: { currentPrimaryIndex: to } });
  labelled(to, 'primary');
  labelled(from, 'replica', { 'moco.cybozu.com/demote': null });
}

/** Everything that MOCO and Kubernetes do in a rollout in which nothing goes wrong. */
export async function rollOut(bench: Bench, program: Process): Promise<void> {
  await program.work();
  await replaceAll(bench, program);
  await program.work();
}

/** The same from the first eviction until the last pod has been replaced, which the program has not seen yet. */
export async function replaceAll(bench: Bench, program: Process): Promise<void> {
  bench.replace(2);
  await program.work();
  bench.replace(1);
  await program.work();
  switchOver(bench, 0, 1);
  await program.work();
  bench.replace(0);
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
