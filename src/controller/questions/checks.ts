import { type Check, checksAbout, missingDataOf, queryFor } from '../../api/check-settings.ts';
import type { World } from '../../base/world.ts';
import type { CheckFacts, CheckReading } from '../../core/on-demand-facts.ts';
import { askAgainSeconds, freshSeconds } from '../../core/rules/checks.ts';
import type { ClusterSnapshot } from '../../core/snapshot.ts';
import type { PrometheusQuery } from '../../kube/prometheus-http.ts';
import { splitKey } from '../../kube/store.ts';
import type { ClusterObjects } from '../../moco/records.ts';
import type { CheckMetrics } from '../../telemetry/runtime-metrics.ts';
import { type Answered, answered, answerFacts } from './answers.ts';
import type { Row } from './asking.ts';

// The question `checks`: asks Prometheus in the background, for all clusters.

export const checks: Row<'checks', null, Pick<ClusterSnapshot, 'checks'>> = {
  asks: 'Prometheus: the queries of `checks`. No pass waits for the answer; its arrival starts another pass',
  lasts: `${freshSeconds} s before a step, ${askAgainSeconds} s while the cluster is watched`,
  silence: 'no step that replaces a working member; a soak continues for a while',
  // `Checks` stores the answers.
  initial: null,
  ask: (_, { key, observed: { settings, objects }, sources }) => {
    sources.checks.ask(key, aboutMembers(settings.checks, objects));
    return Promise.resolve(null);
  },
  facts: (_, { key, policy, settings, sources, objects }) => ({
    checks: policy.mode === 'MOCO' ? [] : sources.checks.factsFor(key, aboutMembers(settings.checks, objects)),
  }),
  confirm: null,
  status: { whileOutstanding: 'nothing' },
};

/** The query contains the names of the pods, so that answers about other pods do not count. */
function aboutMembers(all: readonly Check[], { pods, statefulSet }: ClusterObjects): readonly Check[] {
  const at = (isUpdated: boolean): readonly string[] =>
    pods
      .filter(({ revision }) => (revision === statefulSet?.updateRevision) === isUpdated)
      .map(({ name }) => name)
      .toSorted();
  return checksAbout(all, { updated: at(true), stale: at(false) });
}

interface KnownAnswer extends Answered<CheckReading> {
  readonly query: string;
}

/**
 * The last answers to the checks of all clusters. No pass waits for Prometheus: this class asks in the background and
 * queues the cluster once it has the answers. So a slow answer delays no other cluster. All answers can be lost,
 * because each check is asked again before the next step.
 */
export class Checks {
  readonly #read: CheckReader;
  readonly #world: World;
  readonly #metrics: CheckMetrics;
  readonly #answered: (key: string) => void;
  readonly #known = new Map<string, ReadonlyMap<string, KnownAnswer>>();
  /** The cluster's current round of questions. An answer from an earlier round is dropped. */
  readonly #asking = new Map<string, symbol>();

  /** `answered` is called with the cluster once all of its checks have been answered. */
  constructor(read: CheckReader, world: World, metrics: CheckMetrics, answered: (key: string) => void) {
    this.#read = read;
    this.#world = world;
    this.#metrics = metrics;
    this.#answered = answered;
  }

  factsFor(key: string, checks: readonly Check[]): readonly CheckFacts[] {
    const known = this.#known.get(key);
    return checks.map(({ name, query }) => {
      const last = known?.get(name);
      if (last?.query !== query) return { name, reading: null, ageSeconds: 0, unknownForSeconds: 0 };
      return { name, ...answerFacts<CheckReading>(last, this.#world.monotonic()) };
    });
  }

  /** Queries all checks of the cluster in parallel, unless a query is under way. */
  ask(key: string, checks: readonly Check[]): void {
    if (this.#asking.has(key)) return;
    const question = Symbol(key);
    this.#asking.set(key, question);
    void this.#ask(key, checks, question);
  }

  /**
   * Drops the answers because a step was done or the cluster is gone. Earlier answers do not count for the next step.
   */
  forget(key: string): void {
    this.#known.delete(key);
    this.#asking.delete(key);
  }

  async #ask(key: string, checks: readonly Check[], question: symbol): Promise<void> {
    const [namespace, name] = splitKey(key);
    const since = this.#world.monotonic();
    const readings = await Promise.all(
      checks.map(async (check) => {
        const reading = await this.#read(check, { namespace, name });
        this.#metrics.countRequest(reading.kind);
        this.#metrics.durationSeconds.observe((this.#world.monotonic() - since) / 1000);
        return { check, reading };
      }),
    );
    if (this.#asking.get(key) !== question) return;
    const now = this.#world.monotonic();
    const before = this.#known.get(key);
    const known = readings.map(({ check: { name: check, query }, reading }) => {
      return [check, { query, ...answered<CheckReading>(reading, before?.get(check), now) }] as const;
    });
    this.#known.set(key, new Map(known));
    this.#asking.delete(key);
    this.#answered(key);
  }
}

/** Asks whether a check passes for a cluster. Never rejects. */
export type CheckReader = (
  check: Check,
  cluster: { readonly namespace: string; readonly name: string },
) => Promise<CheckReading>;

/**
 * A check fails if its query returns any series, as an alerting rule fires. If the check sets `noData`, a second query
 * finds out whether data is missing. `query` is `null` without a Prometheus.
 */
export function prometheusChecks(query: PrometheusQuery | null): CheckReader {
  return async (check, cluster) => {
    if (query === null) return { kind: 'unknown', message: 'the controller runs without --prometheus-url' };
    try {
      const text = queryFor(check, cluster);
      const [first, ...others] = await query(text);
      if (first !== undefined) return { kind: 'failing', series: { ...first, others: others.length } };
      const { noData = 'Pass' } = check;
      const missing = noData === 'Pass' ? null : await missingIn(text, query);
      if (missing === null) return { kind: 'passing' };
      return noData === 'Fail'
        ? { kind: 'failing', series: { labels: {}, value: '', others: 0, missing } }
        : { kind: 'unknown', message: `there is no series of ${missing}` };
    } catch (error) {
      return { kind: 'unknown', message: error instanceof Error ? error.message : String(error) };
    }
  };
}

/** The first selector of a query that matches no series; `null` if each selector matches one. */
async function missingIn(text: string, query: PrometheusQuery): Promise<string | null> {
  const data = missingDataOf(text);
  const [first] = data === null ? [] : await query(data.query);
  return first === undefined ? null : (data?.selectors[first.labels['selector'] ?? ''] ?? text);
}
