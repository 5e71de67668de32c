import { mysqldOf } from '../../core/member.ts';
import type { DelayReading } from '../../core/on-demand-facts.ts';
import { freshSeconds } from '../../core/replicas-behind.ts';
import type { ClusterSnapshot } from '../../core/snapshot.ts';
import type { PodRecord } from '../../moco/records.ts';
import { type Answered, answered, answerFacts } from './answers.ts';
import type { Asking, Row } from './asking.ts';

// The question `delays`: asks the agent of each replica how far the replica is behind.

/**
 * The answer of each replica, by the uid of its pod. Asking replaces all answers at once, because all replicas are
 * asked together.
 */
type KnownDelays = ReadonlyMap<string, Answered<DelayReading>>;

export const delays: Row<'delays', KnownDelays, Pick<ClusterSnapshot, 'replicationDelays'>> = {
  asks: 'the agent of each replica whose mysqld is ready: how far it is behind (two GETs of at most 1 s each)',
  lasts: `${freshSeconds} s`,
  silence: 'the replica counts as behind for `replicaDelayGraceSeconds`, then as caught up',
  initial: new Map(),
  ask: (_, asking, before) => readDelays(asking, before),
  facts: (known, { nowMilliseconds }) => ({
    replicationDelays: [...known].map(([uid, one]) => ({ uid, ...answerFacts(one, nowMilliseconds) })),
  }),
  confirm: {
    order: 'beforeClock',
    plan: (_, asking, before) => ({ requests: 0, ask: () => readDelays(asking, before) }),
  },
  status: { whileOutstanding: 'its hold' },
};

/** Asks the replicas in parallel. Never rejects. */
async function readDelays(
  { key, observed, sources, world, log, metrics, signal }: Omit<Asking, 'api'>,
  before: KnownDelays,
): Promise<KnownDelays> {
  const { cluster, pods } = observed.objects;
  const replicas = pods.filter((pod) => pod.ordinal !== cluster.primaryIndex && mayCatchUp(pod));
  const atMilliseconds = world.monotonic();
  const readings = await Promise.all(replicas.map((pod) => sources.delays.read(pod, signal)));
  const found = new Map<string, Answered<DelayReading>>();
  for (const [index, { uid, name }] of replicas.entries()) {
    const reading = readings[index] as DelayReading;
    const after = answered(reading, before.get(uid), atMilliseconds);
    found.set(uid, after);
    metrics.countDelayReading(reading.kind);
    if (reading.kind === 'unknown' && after.unknownSinceMilliseconds === atMilliseconds) {
      log.warn({ cluster: key, member: name, reason: reading.message }, 'Failed to read the replication delay');
    }
  }
  return found;
}

const mayCatchUp = (pod: PodRecord): boolean => pod.deletionTimestamp === null && mysqldOf(pod)?.ready === true;
