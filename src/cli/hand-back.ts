import { UsageError } from '../failure.ts';
import type { ClusterRecord } from '../moco/records.ts';
import type { ClusterCommand } from './command.ts';
import { type HandedBackOutcome, handBackOne } from './hand-back/one-cluster.ts';
import { findTargets } from './hand-back/targets.ts';
import { LiveLine } from './live-line.ts';
import { durationOf, type Session } from './session.ts';

/** How many clusters are on their way at once: the client's own pace is what limits them. */
const atOnce = 8;

/** Gives StatefulSets back to rolling updates by partition, with a marker that a controller which still runs obeys. */
export const handBackCommand: ClusterCommand = {
  name: 'hand-back',
  arguments: '[NAME...]',
  completes: ['cluster'],
  summary: 'Give clusters back to rolling updates by partition',
  help:
    'Of the clusters that are named, of all clusters of a namespace (-n), or of all (--all). No pod is deleted. What is ' +
    'stale stays so until MOCO or the partition driver takes it. A controller that still runs with the feature gate ' +
    'on leaves them alone from then on, until `take` or a later spec with `strategy: OnDelete`. Can be broken off and ' +
    'run again at any time.',
  options: [
    { flags: '--all', description: 'the same as -A' },
    { flags: '--timeout <duration>', description: 'how long it may take altogether', default: '5m' },
  ],
  connects: true,
  run: handBack,
};

async function handBack(session: Session, names: readonly string[]): Promise<number> {
  const { host, given, world } = session;
  const timeoutMilliseconds = durationOf('timeout', given['timeout'] ?? '5m');
  if (given['all'] === true && given['namespace'] !== undefined) {
    throw new UsageError('expected either -n or --all, got both');
  }
  const { clusters, hasRollouts, orphans } = await findTargets(session, names);
  const line = new LiveLine(host);
  for (const orphan of orphans) line.say(`${orphan}: its MySQLCluster is gone; the garbage collector has the rest`);
  if (!hasRollouts) {
    line.warn(
      'the kind MySQLRollout is not there: nothing keeps a controller that runs with the gate on from taking them again',
    );
  }
  if (clusters.length === 0) {
    line.say('nothing to hand back');
    return 0;
  }
  const deadline = new AbortController();
  const cancel = world.timer(timeoutMilliseconds, () => deadline.abort());
  const left: string[] = [];
  let back = 0;
  const count = (): void => line.show(`${back} of ${clusters.length} handed back`);
  count();
  const one = async (cluster: ClusterRecord): Promise<void> => {
    const key = `${cluster.namespace}/${cluster.name}`;
    const waits = (reason: string): void => line.warn(`${key}: ${reason}`);
    const outcome: HandedBackOutcome = await handBackOne(session, cluster, hasRollouts, deadline.signal, waits);
    if (outcome.kind === 'back') {
      back += 1;
      line.say(`${key}: ${outcome.sentence}`);
    } else {
      left.push(`${key}: ${outcome.reason}`);
    }
    count();
  };
  try {
    await inParallel(clusters, atOnce, one);
  } finally {
    cancel();
    line.end();
  }
  host.out(`${back} of ${clusters.length} handed back\n`);
  if (left.length === 0) return 0;
  host.err(`error: left as they are:\n${left.map((sentence) => `  ${sentence}\n`).join('')}`);
  return 1;
}

/** As many at a time, in order. */
async function inParallel<T>(all: readonly T[], most: number, work: (one: T) => Promise<void>): Promise<void> {
  const waiting = all.values();
  const worker = async (): Promise<void> => {
    for (const one of waiting) await work(one);
  };
  await Promise.all(Array.from({ length: Math.min(most, all.length) }, worker));
}
