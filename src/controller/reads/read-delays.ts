import type { Decision } from '../../core/decision.ts';
import type { DelayReading } from '../../core/readings.ts';
import { keyOf } from '../../kube/store.ts';
import type { Log, World } from '../../kube/world.ts';
import type { ClusterObjects, PodRecord } from '../../moco/records.ts';
import type { RolloutMetrics } from '../../telemetry/rollout-metrics.ts';
import type { KnownDelay } from '../facts/replication-delays.ts';
import type { ClusterState } from '../memory/cluster-memory.ts';
import type { DelayReader } from './delay-reader.ts';

/** After a longer pause a reading belongs to another switchover. */
const seriesMilliseconds = 60_000;

export interface DelayContext {
  readonly delays: DelayReader;
  readonly world: World;
  readonly log: Log;
  readonly metrics: Pick<RolloutMetrics, 'countDelayReading'>;
}

/** Asks replicas that the decision waits for and does not know. Resolves to whether any was asked. */
export async function refreshDelays(
  { decision: { hold }, objects }: { readonly decision: Decision; readonly objects: ClusterObjects },
  state: ClusterState,
  context: DelayContext,
  signal: AbortSignal,
): Promise<boolean> {
  if (
    hold?.rule !== 'ReplicasBehind' ||
    hold.limitSeconds === null ||
    hold.replicas.every(({ reading }) => reading !== null)
  )
    return false;
  await readDelays(objects, state, context, signal);
  return true;
}

/** Asks all replicas whose mysqld is ready, in parallel. Never rejects. */
export async function readDelays(
  { cluster, pods }: ClusterObjects,
  state: ClusterState,
  { delays, world, log, metrics }: DelayContext,
  signal: AbortSignal,
): Promise<void> {
  const replicas = pods.filter((pod) => pod.ordinal !== cluster.primaryIndex && mayCatchUp(pod));
  const atMilliseconds = world.monotonic();
  const readings = await Promise.all(replicas.map((pod) => delays.read(pod, signal)));
  const known = new Map<string, KnownDelay>();
  for (const [index, { uid, name }] of replicas.entries()) {
    const reading = readings[index] as DelayReading;
    const before = state.replicationDelays.get(uid);
    const after = following(reading, before, atMilliseconds);
    known.set(uid, after);
    metrics.countDelayReading(reading.kind);
    if (reading.kind === 'unknown' && after.unknownSinceMilliseconds === atMilliseconds) {
      const key = keyOf(cluster.namespace, cluster.name);
      log.warn({ cluster: key, member: name, reason: reading.message }, 'the replication delay can not be read');
    }
  }
  state.replicationDelays = known;
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
