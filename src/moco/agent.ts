import type { CloneReading, DelayReading, MemberAnswer } from '../core/on-demand-facts.ts';
import type { PlainAnswer, PodGet } from '../kube/plain-http.ts';
import type { PodRecord } from './records.ts';

// What moco-agent reports about the replication of its mysqld. Its readiness probe queries mysqld and sets the metric.
// Without such a query the metric is as old as the kubelet's last probe (moco-agent 0.16, server/mysqld_health.go,
// MySQLDReady).

/** Names of container ports that MOCO sets (MOCO 0.36, pkg/constants/ports.go). */
export const probePortName = 'health';
export const metricsPortName = 'agent-metrics';
export const readinessPath = '/readyz';
export const metricsPath = '/metrics';

const unknown = (message: string) => ({ kind: 'unknown', message }) as const;

/** An agent's texts are truncated to this length in messages for users. */
const mostCharacters = 200;
const quoted = (text: string): string => text.trim().replace(/\s+/g, ' ').slice(0, mostCharacters);

/** What the agent's readiness means; `null` if the agent is ready and its metrics are current. */
export function readinessOf({ status, body }: PlainAnswer): DelayReading | null {
  switch (status) {
    case 200:
      return null;
    case 503:
      return { kind: 'notReplicating', message: quoted(body) };
    default:
      return unknown(`expected 200 or 503 from ${readinessPath}, got ${status}`);
  }
}

/** Every moco-agent has this metric, whatever the state of its mysqld. */
const sureMetric = 'moco_instance_clone_count';
const delayMetric = 'moco_instance_replication_delay_seconds';

/**
 * The delay in the metrics of a ready agent. If the metric is missing, mysqld has received no transaction since it
 * started, or it is a primary: there is nothing to catch up with.
 */
export function delayOf({ status, body }: PlainAnswer, cluster: string, ordinal: number): DelayReading {
  if (status !== 200) return unknown(`expected 200 from ${metricsPath}, got ${status}`);
  const [sure] = samplesOf(sureMetric, body);
  if (sure === undefined) return unknown(`expected the metrics of moco-agent, got none named ${sureMetric}`);
  const series = samplesOf(delayMetric, body);
  const [delay] = series;
  if (series.length > 1) return unknown(`expected one series of ${delayMetric}, got more`);
  for (const { labels, tooLong } of [sure, ...(delay === undefined ? [] : [delay])]) {
    if (tooLong) return unknown(`expected lines of at most ${longestSampleCharacters} characters, got a longer one`);
    // Another pod may have received the address of a deleted pod.
    if (labels['name'] !== cluster || labels['index'] !== `${ordinal}`) {
      return unknown(`expected the metrics of ${cluster}, index ${ordinal}, got those of another pod`);
    }
  }
  if (delay === undefined) return { kind: 'delay', seconds: 0 };
  const seconds = Number(delay.value);
  if (!Number.isFinite(seconds)) return unknown(`expected ${delayMetric} to be a number, got ${quoted(delay.value)}`);
  // The difference may be below zero, since the clocks of two former primaries may differ.
  return { kind: 'delay', seconds: Math.max(0, seconds) };
}

const cloneMetric = 'moco_instance_clone_in_progress';

/**
 * The answer to a readiness probe contains this while mysqld clones (moco-agent 0.16, server/mysqld_health.go,
 * MySQLDReady).
 */
const clonesByReadiness = /\bunder cloning\b/;

/**
 * Whether the member is cloning: its agent is running a clone, or MySQL reports that the last clone has not completed.
 * The clone metric is 1 while the agent runs a clone (moco-agent 0.16, server/clone.go, Clone).
 */
export function cloneOf(readiness: PlainAnswer, metrics: PlainAnswer, cluster: string, ordinal: number): CloneReading {
  if (metrics.status !== 200) return unknown(`expected 200 from ${metricsPath}, got ${metrics.status}`);
  const [sample] = samplesOf(cloneMetric, metrics.body);
  if (sample === undefined) return unknown(`expected the metrics of moco-agent, got none named ${cloneMetric}`);
  if (sample.labels['name'] !== cluster || sample.labels['index'] !== `${ordinal}`) {
    return unknown(`expected the metrics of ${cluster}, index ${ordinal}, got those of another pod`);
  }
  if (Number(sample.value) === 1) return { kind: 'cloning' };
  if (readiness.status === 503 && clonesByReadiness.test(readiness.body)) return { kind: 'unfinished' };
  // The agent answers 500 if it could not learn from mysqld whether a clone is running.
  return readiness.status === 200 || readiness.status === 503
    ? { kind: 'notCloning' }
    : unknown(`expected 200 or 503 from ${readinessPath}, got ${readiness.status}`);
}

interface Sample {
  readonly labels: Readonly<Record<string, string>>;
  readonly value: string;
  /** The line is longer than the limit, so its content is unknown. */
  readonly tooLong: boolean;
}

/** More samples are never needed: one series of a metric is correct, and two are an error. */
const mostSamples = 2;

/**
 * The first two samples of a metric in Prometheus' text format 0.0.4. The text comes from a tenant's pod, so it is
 * parsed in linear time.
 */
function samplesOf(metric: string, text: string): readonly Sample[] {
  const samples: Sample[] = [];
  let start = text.indexOf(metric);
  while (start !== -1 && samples.length < mostSamples) {
    const end = text.indexOf('\n', start);
    const isLineStart = start === 0 || text[start - 1] === '\n';
    const sample = isLineStart ? sampleOf(text.slice(start + metric.length, end === -1 ? undefined : end)) : null;
    if (sample !== null) samples.push(sample);
    start = isLineStart && end === -1 ? -1 : text.indexOf(metric, isLineStart ? end : start + metric.length);
  }
  return samples;
}

/** The lines of moco-agent have fewer than 100 characters. */
const longestSampleCharacters = 1024;
const label = /\s*(?:,\s*)?(\w+)="((?:[^"\\]|\\.)*)"/y;

/**
 * The rest of the line after the metric's name. `null` if the name in the line is longer, or if the line contains no
 * sample.
 */
function sampleOf(rest: string): Sample | null {
  if (!/^[\s{]/.test(rest)) return null;
  if (rest.length > longestSampleCharacters) return { labels: {}, value: '', tooLong: true };
  if (!rest.startsWith('{')) return { labels: {}, value: valueIn(rest), tooLong: false };
  const pairs: (readonly [name: string, text: string])[] = [];
  label.lastIndex = 1;
  for (let at = 1; ; at = label.lastIndex) {
    const [, name, text = ''] = label.exec(rest) ?? [];
    if (name === undefined)
      return { labels: Object.fromEntries(pairs), value: valueIn(rest.slice(at)), tooLong: false };
    pairs.push([name, text]);
  }
}

/** The first word after the labels; empty if there is no word. */
const valueIn = (rest: string): string => /^[\s,]*\}?\s*(\S*)/.exec(rest)?.[1] ?? '';

/** Asks agents of replicas about replication. Never rejects. */
export interface DelayReader {
  /** The replication delay. */
  read(pod: PodRecord, signal: AbortSignal): Promise<DelayReading>;
  /** Whether the replica is cloning. */
  readClone(pod: PodRecord, signal: AbortSignal): Promise<CloneReading>;
}

/** The time limit for a request to an agent: the default of the kubelet's probe. */
export const agentTimeoutMilliseconds = 1000;

/**
 * Asks the moco-agent of the pod, first for its readiness, then for its metrics. The readiness request makes the agent
 * measure the delay, and the metrics contain it.
 */
export class AgentDelayReader implements DelayReader {
  readonly #get: PodGet;

  constructor(get: PodGet) {
    this.#get = get;
  }

  read(pod: PodRecord, signal: AbortSignal): Promise<DelayReading> {
    return this.#ask<DelayReading>(pod, signal, async (readiness, metrics) => {
      const against = readinessOf(await readiness());
      return against ?? delayOf(await metrics(), pod.clusterName, pod.ordinal);
    });
  }

  readClone(pod: PodRecord, signal: AbortSignal): Promise<CloneReading> {
    return this.#ask<CloneReading>(pod, signal, async (readiness, metrics) =>
      cloneOf(await readiness(), await metrics(), pod.clusterName, pod.ordinal),
    );
  }

  async #ask<Reading>(
    { agent: { ip, probePort, metricsPort } }: PodRecord,
    signal: AbortSignal,
    work: (readiness: () => Promise<PlainAnswer>, metrics: () => Promise<PlainAnswer>) => Promise<Reading>,
  ): Promise<Reading | ReturnType<typeof unknown>> {
    if (ip === null) return unknown('the pod has no IP address');
    if (probePort === null) return unknown(`the pod has no port ${probePortName}`);
    if (metricsPort === null) return unknown(`the pod has no port ${metricsPortName}`);
    try {
      return await work(
        () => this.#get({ ip, port: probePort }, readinessPath, signal),
        () => this.#get({ ip, port: metricsPort }, metricsPath, signal),
      );
    } catch (error) {
      return unknown(error instanceof Error ? error.message : String(error));
    }
  }
}

/** Asks a member whether it serves. Never rejects. */
export interface MemberReader {
  answerOf(pod: PodRecord, signal: AbortSignal): Promise<MemberAnswer>;
}

/** Asks the moco-agent of the pod for its readiness, which queries mysqld. */
export class AgentMemberReader implements MemberReader {
  readonly #get: PodGet;

  constructor(get: PodGet) {
    this.#get = get;
  }

  async answerOf({ agent: { ip, probePort } }: PodRecord, signal: AbortSignal): Promise<MemberAnswer> {
    if (ip === null) return { kind: 'unknown', message: 'the pod has no IP address' };
    if (probePort === null) return { kind: 'unknown', message: `the pod has no port ${probePortName}` };
    try {
      const { status, body } = await this.#get({ ip, port: probePort }, readinessPath, signal);
      if (status === 200) return { kind: 'ready' };
      if (status === 503) return { kind: 'notReady', message: quoted(body) };
      return { kind: 'unknown', message: `expected 200 or 503 from ${readinessPath}, got ${status}` };
    } catch (error) {
      return { kind: 'unknown', message: error instanceof Error ? error.message : String(error) };
    }
  }
}
