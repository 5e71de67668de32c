import { isDeepStrictEqual } from 'node:util';
import { type CloneReading, cloneAgainSeconds, freshCloneSeconds } from '../../core/on-demand-facts.ts';
import type { MemberFacts } from '../../core/snapshot.ts';
import { type Answered, answered, answerFacts } from './answers.ts';
import type { Asking, Row } from './asking.ts';

// The question `clones`: asks the agents of replicas that are not ready whether the replica is cloning its data.

/** The last answer of each replica, by the uid of its pod. */
type KnownClones = ReadonlyMap<string, KnownClone>;

interface KnownClone extends Answered<CloneReading> {
  /** Since when the progress of the clone has not changed; `null` if that is unknown. */
  readonly unchangedSinceMilliseconds: number | null;
}

export const clones: Row<'clones', KnownClones, object, Pick<MemberFacts, 'clone'>> = {
  asks: 'the agents of replicas that run and are not ready: whether they clone (two GETs of at most 1 s each); with `ReplicationFacts` also the mysqld of a cloning replica: how far along the clone is',
  lasts: `${freshCloneSeconds} s; ${cloneAgainSeconds} s while it clones`,
  silence: 'the replica is not restarted until its mysqld has not been ready for `progressDeadlineSeconds`',
  initial: new Map(),
  ask: ({ members }, asking, before) => readClones(members, asking, before),
  facts: () => ({}),
  memberFacts:
    (known, { nowMilliseconds }) =>
    ({ uid }) => {
      const one = known.get(uid);
      if (one === undefined) return { clone: null };
      const since = one.unchangedSinceMilliseconds;
      const unchanged = since === null ? {} : { unchangedForSeconds: (nowMilliseconds - since) / 1000 };
      return { clone: { ...answerFacts(one, nowMilliseconds), ...unchanged } };
    },
  confirm: {
    order: 'beforeClock',
    plan: ({ members }, asking, before) => ({ requests: 0, ask: () => readClones(members, asking, before) }),
  },
  status: { whileOutstanding: 'its hold' },
};

/** Asks the agents in parallel. Keeps earlier answers about other replicas that still exist. Never rejects. */
async function readClones(
  ordinals: readonly number[],
  { key, observed, sources, world, log, signal }: Omit<Asking, 'api'>,
  before: KnownClones,
): Promise<KnownClones> {
  const { pods } = observed.objects;
  const asked = pods.filter(({ ordinal }) => ordinals.includes(ordinal));
  const atMilliseconds = world.monotonic();
  const readings = await Promise.all(
    asked.map(async (pod): Promise<CloneReading> => {
      const reading = await sources.delays.readClone(pod, signal);
      if (reading.kind !== 'cloning' || sources.mysql === undefined) return reading;
      const progress = await sources.mysql.cloneProgress(observed.objects.cluster, pod, signal);
      return progress === null ? reading : { ...reading, progress };
    }),
  );
  const known = new Map([...before].filter(([uid]) => pods.some((pod) => pod.uid === uid)));
  for (const [index, { uid, name }] of asked.entries()) {
    const reading = readings[index] as CloneReading;
    const earlier = known.get(uid);
    const unchangedSinceMilliseconds = unchangedSince(reading, earlier, atMilliseconds);
    known.set(uid, { ...answered(reading, earlier, atMilliseconds), unchangedSinceMilliseconds });
    if (reading.kind === 'cloning' && earlier?.reading.kind !== 'cloning') {
      log.info({ cluster: key, member: name }, 'Detected a cloning member');
    }
  }
  return known;
}

/**
 * Since when the progress has not changed. `null` if the answer contains no progress, because the clone may not be
 * stuck.
 */
function unchangedSince(reading: CloneReading, earlier: KnownClone | undefined, now: number): number | null {
  if (reading.kind !== 'cloning' || reading.progress === undefined) return null;
  const before = earlier?.reading.kind === 'cloning' ? earlier.reading.progress : undefined;
  return isDeepStrictEqual(before, reading.progress) ? (earlier?.unchangedSinceMilliseconds ?? now) : now;
}
