import type { MocoStandIn } from '../moco/driver.ts';

/** Adds up for how long no commit to a cluster is answered, by what the stand-in's databases say. */
export class Outage {
  readonly #now: () => number;
  readonly #unsubscribe: () => void;
  #milliseconds = 0;
  /** `null` while commits are answered. */
  #since: number | null = null;

  /** `now` is milliseconds of the monotonic clock. */
  constructor(
    moco: Pick<MocoStandIn, 'acceptsCommits' | 'onDatabasesChange'>,
    namespace: string,
    name: string,
    now: () => number,
  ) {
    this.#now = now;
    const look = (): void => this.#look(moco.acceptsCommits(namespace, name));
    this.#unsubscribe = moco.onDatabasesChange((changedNamespace, changed) => {
      if (changedNamespace === namespace && changed === name) look();
    });
    look();
  }

  /** Ends it. */
  end(): { readonly milliseconds: number; readonly goesOn: boolean } {
    this.#unsubscribe();
    const goesOn = this.#since !== null;
    this.#look(true);
    return { milliseconds: this.#milliseconds, goesOn };
  }

  #look(acceptsCommits: boolean): void {
    const now = this.#now();
    if (!acceptsCommits) {
      this.#since ??= now;
      return;
    }
    if (this.#since !== null) this.#milliseconds += now - this.#since;
    this.#since = null;
  }
}
