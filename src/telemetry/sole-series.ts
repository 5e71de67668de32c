import type { Gauge } from 'prom-client';

/** A gauge with at most one series for each cluster: the value of one label tells which. */
export class SoleSeries<Label extends string> {
  readonly #gauge: Gauge<'namespace' | 'name' | Label>;
  readonly #label: Label;
  /** By cluster: the value of the label that has a series now. */
  readonly #present = new Map<string, string>();

  constructor(gauge: Gauge<'namespace' | 'name' | Label>, label: Label) {
    this.#gauge = gauge;
    this.#label = label;
  }

  /** Replaces the series of the cluster. `value` is `null` where it is to have none. */
  set([namespace, name]: readonly [string, string], value: string | null, number: number): void {
    const key = `${namespace}/${name}`;
    const labels = (of: string) =>
      ({ namespace, name, [this.#label]: of }) as Record<'namespace' | 'name' | Label, string>;
    const before = this.#present.get(key);
    if (before !== undefined && before !== value) this.#gauge.remove(labels(before));
    if (value === null) {
      this.#present.delete(key);
      return;
    }
    this.#gauge.set(labels(value), number);
    this.#present.set(key, value);
  }
}
