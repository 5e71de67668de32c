import type { ResourceKind } from '../../../src/kube/resource.ts';
import { Store } from '../../../src/kube/store.ts';
import { Loop } from '../moco/loop.ts';
import { accessWith, type Connected, type ObjectClient } from '../object-client.ts';
import { type Cached, cached, Watching } from '../watching.ts';

/** Looks at all objects of some kinds whenever one of them has changed, and again after a failure. */
export class ObjectLoop<Name extends string> {
  readonly #access: Connected;
  readonly #stores: ReadonlyMap<string, Store<Cached<unknown>>>;
  readonly #watching: Watching;
  readonly #loop: Loop;

  /**
   * @param name the user agent, and who reports failures on standard error
   * @param look of what the loop does
   */
  constructor(
    {
      kubeconfig,
      name,
      kinds,
    }: { readonly kubeconfig: string; readonly name: string; readonly kinds: Readonly<Record<Name, ResourceKind>> },
    look: (loop: ObjectLoop<Name>) => Promise<void>,
  ) {
    this.#access = accessWith(kubeconfig, { userAgent: name });
    const report = (error: unknown): void => void process.stderr.write(`${name}: ${String(error)}\n`);
    const run = async (): Promise<null> => {
      await look(this);
      return null;
    };
    this.#loop = new Loop(this.#access.world, run, { onError: report });
    this.#watching = new Watching(this.#access);
    this.#stores = new Map(
      Object.entries<ResourceKind>(kinds).map(([which, kind]) => {
        const store = this.#watching.follow(new Store<Cached<unknown>>({}), kind, cached);
        store.subscribe(() => this.#loop.trigger());
        return [which, store];
      }),
    );
  }

  get client(): ObjectClient {
    return this.#access.client;
  }

  /** As received. */
  objects(kind: Name): readonly unknown[] {
    return (
      this.#stores
        .get(kind)
        ?.values()
        .map(({ object }) => object) ?? []
    );
  }

  /** Resolves once it has seen every object. */
  start(): Promise<void> {
    return this.#watching.start();
  }

  async stop(): Promise<void> {
    await this.#loop.stop();
    await this.#watching.stop();
    await this.#access.connection.close();
  }
}
