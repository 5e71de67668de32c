import { mysqldOf } from '../../core/member.ts';
import type { DelayReading } from '../../core/on-demand-facts.ts';
import type { ClusterObjects, PodRecord } from '../../moco/records.ts';
import { type Answered, answered, type Readings } from '../facts/readings.ts';
import type { Observation } from '../pass/observe.ts';
import type { Pass } from '../pass/pass.ts';

/** Asks replicas that the decision waits for and does not know. Resolves to `null` if there is none. */
export async function readDelaysAwaited(
  { decision: { hold }, objects }: Observation,
  pass: Pass,
): Promise<Pick<Readings, 'replicationDelays'> | null> {
  const isAsked =
    hold?.rule === 'ReplicasBehind' &&
    hold.limitSeconds !== null &&
    hold.replicas.some(({ reading }) => reading === null);
  return isAsked ? { replicationDelays: await readDelays(objects, pass) } : null;
}

/**
 * Asks all replicas whose mysqld is ready, in parallel. Resolves to what they say, by the uid of the pod. Never
 * rejects.
 */
export async function readDelays(
  { cluster, pods }: ClusterObjects,
  { key, memory, signal, context: { delays, world, log, metrics } }: Pass,
): Promise<Readings['replicationDelays']> {
  const replicas = pods.filter((pod) => pod.ordinal !== cluster.primaryIndex && mayCatchUp(pod));
  const atMilliseconds = world.monotonic();
  const readings = await Promise.all(replicas.map((pod) => delays.read(pod, signal)));
  const found = new Map<string, Answered<DelayReading>>();
  for (const [index, { uid, name }] of replicas.entries()) {
    const reading = readings[index] as DelayReading;
    const after = answered(reading, memory.readings.replicationDelays.get(uid), atMilliseconds);
    found.set(uid, after);
    metrics.countDelayReading(reading.kind);
    if (reading.kind === 'unknown' && after.unknownSinceMilliseconds === atMilliseconds) {
      log.warn({ cluster: key, member: name, reason: reading.message }, 'the replication delay can not be read');
    }
  }
  return found;
}

const mayCatchUp = (pod: PodRecord): boolean => pod.deletionTimestamp === null && mysqldOf(pod)?.ready === true;
