import type { MocoStandIn } from '../moco/driver.ts';

/** Adds up for how long no member of a cluster takes writes, by what the stand-in's databases say. */
export class Outage {
  readonly #now: () => number;
  readonly #unsubscribe: () => void;
  #milliseconds = 0;
  /** `null` while a member takes writes. */
  #since: number | null = null;

  /** `now` is milliseconds of the monotonic clock. */
  constructor(
    moco: Pick<MocoStandIn, 'takesWrites' | 'onDatabasesChange'>,
    namespace: string,
    name: string,
    now: () => number,
  ) {
    this.#now = now;
    const look = (): void => this.#look(moco.takesWrites(namespace, name));
    this.#unsubscribe = moco.onDatabasesChange((changedNamespace, changed) => {
      if (changedNamespace === namespace && changed === name) look();
    });
    look();
  }

  /** Ends it. Milliseconds. */
  end(): number {
    this.#unsubscribe();
    this.#look(true);
    return this.#milliseconds;
  }

  #look(takesWrites: boolean): void {
    const now = this.#now();
    if (!takesWrites) {
      this.#since ??= now;
      return;
    }
    if (this.#since !== null) this.#milliseconds += now - this.#since;
    this.#since = null;
  }
}
