import type { CheckReader } from '../../../src/controller/fleet/check-answers.ts';
import { pods, statefulSets } from '../../../src/kube/resource.ts';
import { annotationOn, demoteAnnotation } from '../../../src/moco/names.ts';
import type { ApiAnswer, ApiRequest } from '../../support/api-server/api-answer.ts';
import { resourceAt } from '../../support/api-server/resource-path.ts';
import { record } from '../../support/api-server/stored-object.ts';
import type { Sent } from './network.ts';
import type { Simulation } from './simulation.ts';

const controllers = /^controller-/;
/** For so long a step may rely on an answer. */
const freshMilliseconds = 5000;
const checks = [{ name: 'errors', query: 'errors > 0' }];

/**
 * A check that the user sets, and the Prometheus that answers it. Objects if the program evicts or demotes a member
 * although the check has failed for longer than an answer counts when the confirmation began.
 */
export class FailingChecks {
  readonly #simulation: Simulation;
  /** By process: when its last confirmation began. */
  readonly #confirmingSince = new Map<string, number>();
  /** Since when the MySQLRollout has the check; infinite while it does not. */
  #setSince = Number.POSITIVE_INFINITY;
  #failingSince = Number.POSITIVE_INFINITY;

  constructor(simulation: Simulation) {
    this.#simulation = simulation;
    simulation.server.onRequest((request, answer) => this.#answered(request, answer));
    simulation.server.store.subscribe(({ type, object }) => {
      if (object.kind !== 'MySQLRollout') return;
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

  sent({ method, path, actor, atMilliseconds }: Sent): void {
    const target = resourceAt(path);
    if (method !== 'GET' || target?.kind !== statefulSets || target.name === null) return;
    this.#confirmingSince.set(actor, atMilliseconds);
  }

  get #now(): number {
    return this.#simulation.clock.nowMilliseconds;
  }

  #answered({ method, path, actor, body }: ApiRequest, { code }: ApiAnswer): void {
    if (!controllers.test(actor) || code >= 300 || resourceAt(path)?.kind !== pods) return;
    const evicts = method === 'POST' && path.includes('/eviction');
    const annotations = record(record(record(body)['metadata'])['annotations']);
    const demotes = method === 'PATCH' && annotations[demoteAnnotation] === annotationOn;
    const confirmingSince = this.#confirmingSince.get(actor) ?? 0;
    const knew = this.#setSince < confirmingSince && this.#failingSince + freshMilliseconds < confirmingSince;
    const resizes = method === 'PATCH' && path.endsWith('/resize');
    if (!(evicts || demotes || resizes) || !knew) return;
    const forSeconds = Math.floor((confirmingSince - this.#failingSince) / 1000);
    const what = evicts ? 'evicted a member' : resizes ? 'resized a member' : 'asked for a switchover';
    this.#simulation.witness.object('check', `${what} although a check had failed for ${forSeconds} s`, this.#now);
  }
}
