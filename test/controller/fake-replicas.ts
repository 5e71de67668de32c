import type { DelayReading } from '../../src/core/on-demand-facts.ts';
import type { DelayReader } from '../../src/moco/agent.ts';

/** Replicas that keep up unless told otherwise, and the names of those that were asked. */
export class FakeReplicas implements DelayReader {
  readonly asked: string[] = [];
  readonly #readings = new Map<string, DelayReading>();

  says(name: string, reading: DelayReading): void {
    this.#readings.set(name, reading);
  }

  read({ name }: { readonly name: string }): Promise<DelayReading> {
    this.asked.push(name);
    return Promise.resolve(this.#readings.get(name) ?? { kind: 'delay', seconds: 0 });
  }
}
