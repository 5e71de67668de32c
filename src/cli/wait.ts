import { rolloutCompleteCondition } from '../moco/names.ts';
import { clusterNamed } from './clusters.ts';
import type { ClusterCommand } from './command.ts';
import { CommandError } from './failure.ts';
import { type LiveCluster, LiveClusters } from './live-clusters.ts';
import { durationOf, type Session } from './session.ts';

/** Waits until everything that is wanted of a cluster now is there: by its watches, without asking again and again. */
export const waitCommand: ClusterCommand = {
  name: 'wait',
  arguments: '<NAME>',
  completes: ['cluster'],
  summary: 'Wait until the rollout of a cluster is complete',
  help:
    `Exit status 0 when it is complete: condition ${rolloutCompleteCondition} of the MySQLCluster is True for its ` +
    'present generation. 1 when it is stalled, so that only a person can help, or when the time is over.',
  options: [{ flags: '--timeout <duration>', description: 'how long to wait', default: '30m' }],
  connects: true,
  run: async (session, [name = '']) => {
    const timeout = String(session.given['timeout']);
    const timeoutMilliseconds = durationOf('timeout', timeout);
    const { namespace } = await clusterNamed(session, name);
    const outcome = await complete(session, name, timeoutMilliseconds);
    if (outcome.kind !== 'complete') throw new CommandError(`${namespace}/${name}: ${outcome.sentence}`);
    session.host.out(`${namespace}/${name}: complete\n`);
    return 0;
  },
};

type Outcome =
  | { readonly kind: 'complete' }
  | { readonly kind: 'stalled' | 'timed out' | 'gone'; readonly sentence: string };

async function complete(session: Session, name: string, timeoutMilliseconds: number): Promise<Outcome> {
  const { world, host } = session;
  const stop = new AbortController();
  const { promise, resolve } = Promise.withResolvers<Outcome>();
  let said = '';
  const look = (): void => {
    const [one] = live.all;
    const outcome = outcomeOf(one);
    if (outcome !== null) resolve(outcome);
    const waits = waitsFor(one);
    if (outcome === null && waits !== said && waits !== '') host.err(`${waits}\n`);
    said = waits;
  };
  let isSynced = false;
  const changed = (): void => {
    if (isSynced) look();
  };
  const live: LiveClusters = new LiveClusters(session, name, changed, stop.signal);
  const cancel = world.timer(timeoutMilliseconds, () =>
    resolve({ kind: 'timed out', sentence: `not complete in time${said === '' ? '' : `: ${said}`}` }),
  );
  try {
    await Promise.race([live.synced, promise]);
    isSynced = true;
    look();
    return await promise;
  } finally {
    cancel();
    stop.abort();
    await live.ended;
  }
}

function outcomeOf(one: LiveCluster | undefined): Outcome | null {
  if (!one || one.cluster.deleting) return { kind: 'gone', sentence: 'the MySQLCluster is gone' };
  const { cluster, rollout } = one;
  const { rolloutComplete, generation } = cluster;
  if (rolloutComplete?.status === true && rolloutComplete.observedGeneration === generation)
    return { kind: 'complete' };
  const { observedClusterGeneration, conditions } = rollout?.status ?? {};
  const stalled = conditions?.find(({ type }) => type === 'Stalled');
  if (stalled?.status !== 'True' || observedClusterGeneration !== generation) return null;
  return { kind: 'stalled', sentence: `stalled by ${stalled.reason}: ${stalled.message}` };
}

function waitsFor(one: LiveCluster | undefined): string {
  const { phase, hold, updatedReplicas, replicas } = one?.rollout?.status ?? {};
  if (phase === undefined) return 'no controller has looked at it yet';
  if (hold) return `${hold.rule}: ${hold.message}`;
  return `${updatedReplicas} of ${replicas} updated`;
}
