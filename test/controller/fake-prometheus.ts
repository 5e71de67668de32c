import type { CheckReader } from '../../src/controller/fleet/check-answers.ts';
import type { CheckReading } from '../../src/core/on-demand-facts.ts';

/** A Prometheus that has nothing against anybody unless told otherwise, and the names of the checks that it was asked. */
export class FakePrometheus {
  readonly asked: string[] = [];
  readonly #readings = new Map<string, CheckReading>();

  says(check: string, reading: CheckReading): void {
    this.#readings.set(check, reading);
  }

  readonly read: CheckReader = ({ name }) => {
    this.asked.push(name);
    return Promise.resolve(this.#readings.get(name) ?? { kind: 'passing' });
  };
}
