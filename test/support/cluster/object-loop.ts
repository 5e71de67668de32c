import { type Connection, connect } from '../../../src/kube/connection.ts';
import { Reflector } from '../../../src/kube/reflector.ts';
import type { ResourceKind } from '../../../src/kube/resource.ts';
import { Store, type Stored } from '../../../src/kube/store.ts';
import { type Log, realWorld, type World } from '../../../src/kube/world.ts';
import { Loop } from '../moco/loop.ts';
import { ObjectClient } from '../object-client.ts';

const unlimited = { qps: 1000, burst: 1000 };
const quiet: Log = { debug: ignore, info: ignore, warn: ignore, error: ignore };

function ignore(): void {}

interface Cached extends Stored {
  readonly object: unknown;
}

interface Raw {
  readonly metadata: {
    readonly namespace?: string;
    readonly name: string;
    readonly uid: string;
    readonly resourceVersion: string;
  };
}

/** Looks at all objects of some kinds whenever one of them has changed, and again after a failure. */
export class ObjectLoop<Name extends string> {
  readonly client: ObjectClient;
  readonly #connection: Connection;
  readonly #world: World;
  readonly #kinds: Readonly<Record<Name, ResourceKind>>;
  readonly #stores: Readonly<Record<Name, Store<Cached>>>;
  readonly #loop: Loop;
  readonly #stopping = new AbortController();
  #watching: Promise<unknown> = Promise.resolve();

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
    this.#connection = connect({ kubeconfigPath: kubeconfig });
    this.#world = realWorld(this.#connection.exchange);
    this.client = new ObjectClient({ world: this.#world, ...unlimited, userAgent: name });
    this.#kinds = kinds;
    const stores = Object.keys(kinds).map((kind) => [kind, new Store<Cached>({})]);
    this.#stores = Object.fromEntries(stores) as Record<Name, Store<Cached>>;
    const report = (error: unknown): void => void process.stderr.write(`${name}: ${String(error)}\n`);
    const run = async (): Promise<null> => {
      await look(this);
      return null;
    };
    this.#loop = new Loop(this.#world, run, report);
  }

  /** As received. */
  objects(kind: Name): readonly unknown[] {
    return this.#stores[kind].values().map(({ object }) => object);
  }

  /** Resolves once it has seen every object. */
  async start(): Promise<void> {
    const reflectors = (Object.keys(this.#kinds) as Name[]).map((name) => {
      const store = this.#stores[name];
      store.subscribe(() => this.#loop.trigger());
      const { client } = this;
      return new Reflector({ client, world: this.#world, log: quiet, kind: this.#kinds[name], store, project });
    });
    this.#watching = Promise.all(reflectors.map((reflector) => reflector.run(this.#stopping.signal)));
    await Promise.all(reflectors.map(({ synced }) => synced));
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#loop.stop();
    await this.#watching;
    await this.#connection.close();
  }
}

function project(raw: unknown): Cached {
  const { metadata } = raw as Raw;
  const { namespace = '', name, uid, resourceVersion } = metadata;
  return { namespace, name, uid, resourceVersion, object: raw };
}
