import type { MocoStandIn } from '../../test/support/moco/driver.ts';

/** Measures how long commits to a cluster are blocked in the stand-in's databases. */
export class Outage {
  readonly #now: () => number;
  readonly #unsubscribe: () => void;
  #milliseconds = 0;
  /** `null` while commits are answered. */
  #since: number | null = null;

  /** `now` returns milliseconds of the monotonic clock. */
  constructor(
    moco: Pick<MocoStandIn, 'acceptsCommits' | 'onDatabasesChange'>,
    namespace: string,
    name: string,
    now: () => number,
  ) {
    this.#now = now;
    const observe = (): void => this.#observe(moco.acceptsCommits(namespace, name));
    this.#unsubscribe = moco.onDatabasesChange((changedNamespace, changed) => {
      if (changedNamespace === namespace && changed === name) observe();
    });
    observe();
  }

  /** Stops the measurement. */
  end(): { readonly milliseconds: number; readonly goesOn: boolean } {
    this.#unsubscribe();
    const goesOn = this.#since !== null;
    this.#observe(true);
    return { milliseconds: this.#milliseconds, goesOn };
  }

  #observe(acceptsCommits: boolean): void {
    const now = this.#now();
    if (!acceptsCommits) {
      this.#since ??= now;
      return;
    }
    if (this.#since !== null) this.#milliseconds += now - this.#since;
    this.#since = null;
  }
}
