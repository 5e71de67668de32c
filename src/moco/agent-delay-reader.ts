import type { DelayReading } from '../core/on-demand-facts.ts';
import type { PodGet } from '../kube/plain-http.ts';
import { delayOf, metricsPath, metricsPortName, probePortName, readinessOf, readinessPath } from './agent.ts';
import type { PodRecord } from './records.ts';

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
