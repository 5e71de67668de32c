import type { Decision } from '../../core/decision.ts';
import type { DelayReading } from '../../core/on-demand-facts.ts';
import { keyOf } from '../../kube/store.ts';
import type { Log, World } from '../../kube/world.ts';
import type { ClusterObjects, PodRecord } from '../../moco/records.ts';
import type { RolloutMetrics } from '../../telemetry/rollout-metrics.ts';
import type { KnownDelay } from '../facts/replication-delays.ts';
import type { DelayReader } from './delay-reader.ts';

/** After a longer pause a reading belongs to another switchover. */
const seriesMilliseconds = 60_000;

export interface DelayContext {
  readonly delays: DelayReader;
  readonly world: World;
  readonly log: Log;
  readonly metrics: Pick<RolloutMetrics, 'countDelayReading'>;
}

type KnownDelays = ReadonlyMap<string, KnownDelay>;

/** Asks replicas that the decision waits for and does not know. Resolves to `null` if there is none. */
export async function readDelaysAwaited(
  { decision: { hold }, objects }: { readonly decision: Decision; readonly objects: ClusterObjects },
  known: KnownDelays,
  context: DelayContext,
  signal: AbortSignal,
): Promise<KnownDelays | null> {
  const isAsked =
    hold?.rule === 'ReplicasBehind' &&
    hold.limitSeconds !== null &&
    hold.replicas.some(({ reading }) => reading === null);
  return isAsked ? readDelays(objects, known, context, signal) : null;
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
  const found = new Map<string, KnownDelay>();
  for (const [index, { uid, name }] of replicas.entries()) {
    const reading = readings[index] as DelayReading;
    const after = following(reading, known.get(uid), atMilliseconds);
    found.set(uid, after);
    metrics.countDelayReading(reading.kind);
    if (reading.kind === 'unknown' && after.unknownSinceMilliseconds === atMilliseconds) {
      const key = keyOf(cluster.namespace, cluster.name);
      log.warn({ cluster: key, member: name, reason: reading.message }, 'the replication delay can not be read');
    }
  }
  return found;
}

const mayCatchUp = ({ deletionTimestamp, containers }: PodRecord): boolean =>
  deletionTimestamp === null && containers.some(({ part, ready }) => part === 'mysqld' && ready);

function following(reading: DelayReading, before: KnownDelay | undefined, atMilliseconds: number): KnownDelay {
  const last = before !== undefined && atMilliseconds - before.atMilliseconds < seriesMilliseconds ? before : null;
  const unknownSince = last?.unknownSinceMilliseconds ?? atMilliseconds;
  return {
    reading,
    atMilliseconds,
    unknownSinceMilliseconds: reading.kind === 'unknown' ? unknownSince : null,
  };
}
