import { delay } from '../../base/delay.ts';
import { nameOf } from '../../kube/store.ts';
import { rolloutCompleteCondition } from '../../moco/names.ts';
import { onClusters, onRollouts, toLook } from '../check/rights.ts';
import { type ClusterAndRollout, selectedClusters } from '../cluster/selection.ts';
import type { Session } from '../cluster/session.ts';
import { watchClusters } from '../cluster/watch-clusters.ts';
import { CommandError } from '../command-error.ts';
import { duration } from '../option.ts';
import { withoutPlace } from '../terminal/lines.ts';
import { clusterCommand, selectionOptions } from './command.ts';

// The command `wait`.

/** Waits until all members of the selected clusters match the specs of their MySQLClusters. */
export const waitCommand = clusterCommand({
  name: 'wait',
  arguments: '[NAME...]',
  rights: [...toLook, onClusters('watch'), onRollouts('watch')],
  summary: 'Wait until rollouts are complete',
  help:
    `A rollout is complete when condition ${rolloutCompleteCondition} of the MySQLCluster is True for its current ` +
    'generation, and the status of the MySQLRollout agrees. Exits with 1 after a timeout, or if a cluster is stalled and needs a person.',
  examples: [
    ['Wait for one cluster', 'wait test'],
    ['Wait up to an hour for all canaries', 'wait -A -l tier=canary --timeout=1h'],
  ],
  options: { ...selectionOptions, timeout: duration('--timeout <duration>', 'how long to wait', '30m') },
  run: async (session, names, { timeout }) => {
    const clusters = await selectedClusters(session, names);
    if (clusters.length === 0) throw new CommandError('no MySQLClusters are selected');
    return untilComplete(session, names, clusters.map(nameOf), timeout);
  },
});

const firstAnswerMilliseconds = 5000;

/** Writes each result as soon as it is known. Resolves to the exit status: 0 if every cluster is complete. */
async function untilComplete(
  session: Session,
  names: readonly string[],
  keys: readonly string[],
  timeoutMilliseconds: number,
): Promise<number> {
  const { world, host } = session;
  const stop = new AbortController();
  const { promise: done, resolve } = Promise.withResolvers<void>();
  const pending = new Set(keys);
  const waitsFor = new Map<string, string>();
  let status = 0;
  const fail = (key: string, sentence: string): void => {
    status = 1;
    host.err(`error: ${key}: ${sentence}\n`);
  };
  const check = (): void => {
    const live = new Map(watching.clusters().map((one) => [nameOf(one.cluster), one]));
    for (const key of pending) {
      const outcome = outcomeOf(live.get(key));
      if (outcome.kind === 'waiting') {
        const prefix = keys.length === 1 ? '' : `${key}: `;
        const before = waitsFor.get(key) ?? '';
        if (withoutPlace(outcome.sentence) !== withoutPlace(before)) host.err(`${prefix}${outcome.sentence}\n`);
        waitsFor.set(key, outcome.sentence);
        continue;
      }
      pending.delete(key);
      if (outcome.kind === 'complete') host.out(`${key}: ${outcome.sentence}\n`);
      else fail(key, outcome.sentence);
    }
    if (pending.size === 0) resolve();
  };
  const watching = watchClusters(session, names, stop.signal);
  const giveUp = (): void => {
    for (const key of pending) {
      const last = waitsFor.get(key);
      fail(key, `not complete in time${last === undefined ? '' : `: ${last}`}`);
    }
    pending.clear();
    resolve();
  };
  const cancel = world.timer(timeoutMilliseconds, () => {
    // Even with a short timeout, the command reports the current state, provided that the API server answers at all.
    const first = watching.synced.then(check);
    void Promise.race([first, delay(world, firstAnswerMilliseconds, stop.signal)]).then(giveUp);
  });
  try {
    await Promise.race([watching.synced, done]);
    watching.subscribe(check);
    check();
    await done;
  } finally {
    cancel();
    stop.abort();
    await watching.ended;
  }
  return status;
}

function outcomeOf(one: ClusterAndRollout | undefined): {
  readonly kind: 'complete' | 'waiting' | 'stalled' | 'gone';
  readonly sentence: string;
} {
  if (!one || one.cluster.deleting) return { kind: 'gone', sentence: 'the MySQLCluster is gone' };
  const { cluster, rollout } = one;
  const { rolloutComplete, generation, released } = cluster;
  const { observedClusterGeneration, conditions, phase, hold } = rollout?.status ?? {};
  const { updatedReplicas = 0, replicas = cluster.replicas } = rollout?.status ?? {};
  const condition = (wanted: string) => conditions?.find(({ type }) => type === wanted);
  // A released cluster does not have this condition, and counts as complete once its generation is observed. A running
  // controller reports it in the same way.
  const isComplete = released
    ? observedClusterGeneration === generation
    : rolloutComplete?.status === true && rolloutComplete.observedGeneration === generation;
  // The status of the MySQLRollout may be written a second later, and the command `status` must show the same result.
  if (isComplete && condition('Ready')?.status === 'True') return { kind: 'complete', sentence: 'complete' };
  const stalled = condition('Stalled');
  if (stalled?.status === 'True' && observedClusterGeneration === generation) {
    return { kind: 'stalled', sentence: `stalled by ${stalled.reason}: ${stalled.message}` };
  }
  if (phase === undefined) return { kind: 'waiting', sentence: 'no controller has observed it yet' };
  const count = `${updatedReplicas} of ${replicas} updated`;
  return { kind: 'waiting', sentence: hold ? `${hold.rule}: ${hold.message}` : count };
}
