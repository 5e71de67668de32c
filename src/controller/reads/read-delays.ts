import type { Decision } from '../../core/decision.ts';
import { mysqldOf } from '../../core/member.ts';
import type { DelayReading } from '../../core/on-demand-facts.ts';
import type { PodGet } from '../../kube/plain-http.ts';
import { keyOf } from '../../kube/store.ts';
import type { Log, World } from '../../kube/world.ts';
import { delayOf, metricsPath, metricsPortName, probePortName, readinessOf, readinessPath } from '../../moco/agent.ts';
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

/** Asks a replica how far it is behind. Never rejects. */
export interface DelayReader {
  read(pod: PodRecord, signal: AbortSignal): Promise<DelayReading>;
}

/** The longest time that one request to an agent may take: as long as the kubelet's probe, unless it is configured. */
export const agentTimeoutMilliseconds = 1000;

/** Asks the moco-agent of the pod: first its readiness, which measures the delay, then the metrics that have it. */
export class AgentDelayReader implements DelayReader {
  readonly #get: PodGet;

  constructor(get: PodGet) {
    this.#get = get;
  }

  async read({ agent, clusterName, ordinal }: PodRecord, signal: AbortSignal): Promise<DelayReading> {
    const { ip, probePort, metricsPort } = agent;
    if (ip === null) return { kind: 'unknown', message: 'the pod has no IP address' };
    if (probePort === null) return { kind: 'unknown', message: `the pod has no port ${probePortName}` };
    if (metricsPort === null) return { kind: 'unknown', message: `the pod has no port ${metricsPortName}` };
    try {
      const readiness = readinessOf(await this.#get({ ip, port: probePort }, readinessPath, signal));
      if (readiness !== null) return readiness;
      return delayOf(await this.#get({ ip, port: metricsPort }, metricsPath, signal), clusterName, ordinal);
    } catch (error) {
      return { kind: 'unknown', message: error instanceof Error ? error.message : String(error) };
    }
  }
}
