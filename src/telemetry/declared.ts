import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

export type ClusterName = readonly [namespace: string, name: string];

export type Series = readonly [labels: Readonly<Record<string, string>>, value: number];

/** A word as the value of a label: in PascalCase, as the reasons of conditions are. */
export function labelValue(word: string): string {
  return word.slice(0, 1).toUpperCase() + word.slice(1);
}

/** Metrics of one registry. Whoever extends it declares each in a line: its name, its help, the names of its labels. */
export class Declared {
  readonly #registers: Registry[];
  readonly #ofClusters: ClusterSeries[] = [];
  readonly #countersOfClusters: ClusterCounter[] = [];

  constructor(registry: Registry) {
    this.#registers = [registry];
  }

  protected counter<Label extends string = never>(name: string, help: string, ...labelNames: Label[]): Counter<Label> {
    return new Counter({ name, help, labelNames, registers: this.#registers });
  }

  protected gauge<Label extends string = never>(name: string, help: string, ...labelNames: Label[]): Gauge<Label> {
    return new Gauge({ name, help, labelNames, registers: this.#registers });
  }

  /** A counter with one label, by a function that counts one more of a word. */
  protected countOf(name: string, help: string, label: string): (word: string) => void {
    const counter = this.counter<string>(name, help, label);
    return (word) => counter.inc({ [label]: labelValue(word) });
  }

  /** `buckets`: upper bounds, in the unit of the name. */
  protected histogram<Label extends string = never>(
    name: string,
    help: string,
    buckets: number[],
    ...labelNames: Label[]
  ): Histogram<Label> {
    return new Histogram({ name, help, buckets, labelNames, registers: this.#registers });
  }

  /** A gauge that has exactly these series whenever it is read. */
  protected computed(name: string, help: string, labelNames: string[], seriesOf: () => readonly Series[]): void {
    const collected = new Gauge({
      name,
      help,
      labelNames,
      registers: [],
      collect() {
        this.reset();
        const series = seriesOf();
        // A gauge without labels is 0 after a reset.
        if (labelNames.length === 0 && series.length === 0) this.remove();
        for (const [labels, value] of series) this.set({ ...labels }, value);
      },
    });
    for (const registry of this.#registers) registry.registerMetric(collected);
  }

  protected ofClusters(name: string, help: string, label?: string): ClusterSeries {
    const gauge = this.gauge(name, help, ...clusterLabels, ...(label === undefined ? [] : [label]));
    const series = new ClusterSeries(gauge, label);
    this.#ofClusters.push(series);
    return series;
  }

  protected counterOfClusters(name: string, help: string): ClusterCounter {
    const counter = this.counter(name, help, ...clusterLabels);
    this.#countersOfClusters.push(counter);
    return counter;
  }

  forget(cluster: ClusterName): void {
    for (const series of this.#ofClusters) series.set(cluster, null);
    for (const counter of this.#countersOfClusters) counter.remove(...cluster);
  }
}

const clusterLabels = ['namespace', 'name'] as const;
type ClusterCounter = Counter<(typeof clusterLabels)[number]>;

/** A gauge about clusters, with a series for each value of its own label, or one where it has none. */
export class ClusterSeries {
  readonly #gauge: Gauge<string>;
  readonly #label: string | undefined;
  /** By cluster: the values of the label that have a series now. */
  readonly #present = new Map<string, readonly string[]>();

  constructor(gauge: Gauge<string>, label: string | undefined) {
    this.#gauge = gauge;
    this.#label = label;
  }

  /**
   * Replaces all series of the cluster. Without a label of its own the gauge takes a number, or `null` for no series.
   */
  set(cluster: ClusterName, values: Readonly<Record<string, number>> | number | null): void {
    const [namespace, name] = cluster;
    const key = cluster.join('/');
    const now = typeof values === 'number' ? { '': values } : (values ?? {});
    const labels = (value: string): Record<string, string> =>
      this.#label === undefined ? { namespace, name } : { namespace, name, [this.#label]: value };
    for (const before of this.#present.get(key) ?? []) {
      if (!Object.hasOwn(now, before)) this.#gauge.remove(labels(before));
    }
    for (const [value, number] of Object.entries(now)) this.#gauge.set(labels(value), number);
    if (Object.keys(now).length === 0) this.#present.delete(key);
    else this.#present.set(key, Object.keys(now));
  }
}
