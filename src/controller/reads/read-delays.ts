import type { Decision } from '../../core/decision.ts';
import { mysqldOf } from '../../core/member.ts';
import type { DelayReading } from '../../core/on-demand-facts.ts';
import { keyOf } from '../../kube/store.ts';
import type { Log, World } from '../../kube/world.ts';
import type { DelayReader } from '../../moco/agent-delay-reader.ts';
import type { ClusterObjects, PodRecord } from '../../moco/records.ts';
import type { RolloutMetrics } from '../../telemetry/rollout-metrics.ts';
import { type Answered, answered, type Readings } from '../facts/readings.ts';

export interface DelayContext {
  readonly delays: DelayReader;
  readonly world: World;
  readonly log: Log;
  readonly metrics: Pick<RolloutMetrics, 'countDelayReading'>;
}

type KnownDelays = Readings['replicationDelays'];

/** Asks replicas that the decision waits for and does not know. Resolves to `null` if there is none. */
export async function readDelaysAwaited(
  { decision: { hold }, objects }: { readonly decision: Decision; readonly objects: ClusterObjects },
  { replicationDelays: known }: Pick<Readings, 'replicationDelays'>,
  context: DelayContext,
  signal: AbortSignal,
): Promise<Pick<Readings, 'replicationDelays'> | null> {
  const isAsked =
    hold?.rule === 'ReplicasBehind' &&
    hold.limitSeconds !== null &&
    hold.replicas.some(({ reading }) => reading === null);
  return isAsked ? { replicationDelays: await readDelays(objects, known, context, signal) } : null;
}

/**
 * Asks all replicas whose mysqld is ready, in parallel. Resolves to what they say, by the uid of the pod. Never
 * rejects.
 */
export async function readDelays(
  { cluster, pods }: ClusterObjects,
  known: KnownDelays,
  { delays, world, log, metrics }: DelayContext,
  signal: AbortSignal,
): Promise<KnownDelays> {
  const replicas = pods.filter((pod) => pod.ordinal !== cluster.primaryIndex && mayCatchUp(pod));
  const atMilliseconds = world.monotonic();
  const readings = await Promise.all(replicas.map((pod) => delays.read(pod, signal)));
  const found = new Map<string, Answered<DelayReading>>();
  for (const [index, { uid, name }] of replicas.entries()) {
    const reading = readings[index] as DelayReading;
    const after = answered(reading, known.get(uid), atMilliseconds);
    found.set(uid, after);
    metrics.countDelayReading(reading.kind);
    if (reading.kind === 'unknown' && after.unknownSinceMilliseconds === atMilliseconds) {
      const key = keyOf(cluster.namespace, cluster.name);
      log.warn({ cluster: key, member: name, reason: reading.message }, 'the replication delay can not be read');
    }
  }
  return found;
}

const mayCatchUp = (pod: PodRecord): boolean => pod.deletionTimestamp === null && mysqldOf(pod)?.ready === true;
