import { leases, pods } from '../../../src/kube/resource.ts';
import { clusterKind, demoteAnnotation } from '../../../src/moco/names.ts';
import type { StoreChange } from '../../support/api-server/object-store.ts';
import { record, type StoredObject } from '../../support/api-server/stored-object.ts';
import type { Sent } from './network.ts';
import type { Simulation } from './simulation.ts';

/** Within such a time two processes write beside each other. */
const besideMilliseconds = 5_000;

/** Detects faults that are not injected but follow from a coincidence of others. */
export class FoundStrikes {
  readonly #simulation: Simulation;
  #lastWrite: Sent | null = null;
  #leader = '';

  constructor(simulation: Simulation) {
    this.#simulation = simulation;
  }

  /** Two processes that are alive both write. */
  sent(sent: Sent): void {
    if (sent.method === 'GET' || sent.path.includes('/leases') || sent.path.includes('/events')) return;
    const before = this.#lastWrite;
    this.#lastWrite = sent;
    if (before === null || before.actor === sent.actor) return;
    const beside = sent.atMilliseconds - before.atMilliseconds < besideMilliseconds;
    const lives = this.#simulation.processes.some(({ actor }) => actor === before.actor);
    if (beside && lives) this.#simulation.struck('twoLeaders');
  }

  /** A switchover is requested or fails, and the lease changes hands. */
  changed({ kind, object, before }: StoreChange): void {
    switch (kind) {
      case pods:
        return this.#demoted(object, before);
      case clusterKind:
        return this.#moved(object, before);
      case leases:
        return this.#held(record(object['spec'])['holderIdentity']);
      default:
    }
  }

  #demoted(object: StoredObject, before: StoredObject | null): void {
    const { switchover } = this.#simulation.moco.faults;
    if (switchover === 'working' || before === null || isDemoted(before) || !isDemoted(object)) return;
    this.#simulation.struck(switchover === 'ignored' ? 'switchoverIgnored' : 'switchoverFailing');
  }

  #moved(object: StoredObject, before: StoredObject | null): void {
    const primary = primaryOf(object);
    if (primary !== primaryOf(before) && primary === this.#simulation.moco.faults.nextPrimary) {
      this.#simulation.struck('nextPrimary');
    }
  }

  #held(holder: unknown): void {
    if (typeof holder !== 'string' || holder === '' || holder === this.#leader) return;
    if (this.#leader !== '') this.#simulation.struck('leaderChange');
    this.#leader = holder;
  }
}

function isDemoted({ metadata }: StoredObject): boolean {
  return metadata.annotations?.[demoteAnnotation] !== undefined;
}

function primaryOf(cluster: StoredObject | null): unknown {
  return record(cluster?.['status'])['currentPrimaryIndex'];
}
