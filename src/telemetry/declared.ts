import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

export type Series = readonly [labels: Readonly<Record<string, string>>, value: number];

/** Converts a word to the form of a label's value: PascalCase, like the reasons of conditions. */
export function labelValue(word: string): string {
  return word.slice(0, 1).toUpperCase() + word.slice(1);
}

/**
 * Metrics of one registry. A subclass declares each metric in a line: its name, its help, and the names of its labels.
 */
export class Declared {
  readonly #registers: Registry[];

  constructor(registry: Registry) {
    this.#registers = [registry];
  }

  protected counter<Label extends string = never>(name: string, help: string, ...labelNames: Label[]): Counter<Label> {
    return new Counter({ name, help, labelNames, registers: this.#registers });
  }

  protected gauge<Label extends string = never>(name: string, help: string, ...labelNames: Label[]): Gauge<Label> {
    return new Gauge({ name, help, labelNames, registers: this.#registers });
  }

  /** A counter with one label. Returns a function that increments the counter for one value of the label. */
  protected countOf(name: string, help: string, label: string): (word: string) => void {
    const counter = this.counter<string>(name, help, label);
    return (word) => counter.inc({ [label]: labelValue(word) });
  }

  /** `buckets` contains upper bounds, in the unit of the metric's name. */
  protected histogram<Label extends string = never>(
    name: string,
    help: string,
    buckets: number[],
    ...labelNames: Label[]
  ): Histogram<Label> {
    return new Histogram({ name, help, buckets, labelNames, registers: this.#registers });
  }

  /** A gauge that is computed whenever it is read: it has exactly the series that `seriesOf` returns. */
  protected computed(name: string, help: string, labelNames: string[], seriesOf: () => readonly Series[]): void {
    const collected = new Gauge({
      name,
      help,
      labelNames,
      registers: [],
      collect() {
        this.reset();
        const series = seriesOf();
        // `reset` sets a gauge without labels to 0 instead of removing its series.
        if (labelNames.length === 0 && series.length === 0) this.remove();
        for (const [labels, value] of series) this.set({ ...labels }, value);
      },
    });
    for (const registry of this.#registers) registry.registerMetric(collected);
  }
}
