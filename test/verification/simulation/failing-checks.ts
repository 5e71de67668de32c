import type { CheckReader } from '../../../src/controller/questions/checks.ts';
import { record } from '../../support/api-server/stored-object.ts';
import type { Disruption, Verb } from '../witness/disruption.ts';
import type { Simulation } from './simulation.ts';

/** For so long a step may rely on an answer. */
const freshMilliseconds = 5000;
/** What a failing check forbids. */
const takes: Readonly<Partial<Record<Verb, string>>> = {
  evict: 'evicted a member',
  resize: 'resized a member',
  demote: 'asked for a switchover',
};
const checks = [{ name: 'errors', query: 'errors > 0' }];

/**
 * A check that the user sets, and the Prometheus that answers it. Objects if the program evicts or demotes a member
 * although the check has failed for longer than an answer counts when the confirmation began.
 */
export class FailingChecks {
  readonly #simulation: Simulation;
  /** Since when the MySQLRollout has the check; infinite while it does not. */
  #setSince = Number.POSITIVE_INFINITY;
  #failingSince = Number.POSITIVE_INFINITY;

  constructor(simulation: Simulation) {
    this.#simulation = simulation;
    simulation.server.store.subscribe(({ type, object }) => {
      if (object.kind !== 'MySQLRollout' || object.metadata.namespace !== simulation.namespace) return;
      const isSet = type !== 'DELETED' && record(object['spec'])['checks'] !== undefined;
      this.#setSince = isSet ? Math.min(this.#setSince, this.#now) : Number.POSITIVE_INFINITY;
    });
  }

  /** The user sets the check; after a while it fails, and later the user takes it back. Calls back once it fails. */
  failFor(milliseconds: number, fails: (isSet: boolean) => void): void {
    const { clock } = this.#simulation;
    const isSet = this.#simulation.setting({ checks });
    clock.after(milliseconds / 4, () => {
      this.#failingSince = this.#now;
      fails(isSet);
    });
    clock.after(milliseconds, () => {
      this.#failingSince = Number.POSITIVE_INFINITY;
      this.#simulation.setting({ checks: null });
    });
  }

  readonly read: CheckReader = () =>
    Promise.resolve(
      this.#failingSince === Number.POSITIVE_INFINITY
        ? { kind: 'passing' }
        : { kind: 'failing', series: { labels: {}, value: '1', others: 0 } },
    );

  get isFailing(): boolean {
    return this.#setSince < this.#now && this.#failingSince < this.#now;
  }

  get #now(): number {
    return this.#simulation.clock.nowMilliseconds;
  }

  disrupted(disruption: Disruption): void {
    const { verb, confirmingSince } = disruption;
    const since = confirmingSince.atMilliseconds;
    const what = takes[verb];
    const knew = this.#setSince < since && this.#failingSince + freshMilliseconds < since;
    if (what === undefined || !knew || this.#simulation.witness.leavesNode(disruption)) return;
    const forSeconds = Math.floor((since - this.#failingSince) / 1000);
    this.#simulation.witness.object('check', `${what} although a check had failed for ${forSeconds} s`, this.#now);
  }
}
