import { chmod, mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { isAlreadyExists, isNotFound } from '../../../src/kube/api-error.ts';
import { type Connection, connect } from '../../../src/kube/connection.ts';
import { Reflector } from '../../../src/kube/reflector.ts';
import { path, persistentVolumeClaims, persistentVolumes, type ResourceKind } from '../../../src/kube/resource.ts';
import { Store, type Stored } from '../../../src/kube/store.ts';
import { realWorld, type World } from '../../../src/kube/world.ts';
import { Loop } from '../moco/loop.ts';
import { ObjectClient } from '../object-client.ts';
import { type Claim, type Volume, type VolumeStep, volumeSteps } from './volume-steps.ts';

const mergePatch = 'application/merge-patch+json';
const unlimited = { qps: 1000, burst: 1000 };
const options = { priority: 'status' } as const;
/** A pod decides by its fsGroup who owns what is in it. */
const everybody = 0o777;

interface Cached<T> extends Stored {
  readonly object: T;
}

const quiet = { debug: ignore, info: ignore, warn: ignore, error: ignore };

function ignore(): void {}

/** A provisioner of directories on the node that the scheduler has chosen, as PersistentVolumes that are tied to it. */
export class LocalVolumes {
  readonly #connection: Connection;
  readonly #client: ObjectClient;
  readonly #world: World;
  readonly #directoryOf: (node: string) => string;
  readonly #claims = new Store<Cached<Claim>>({});
  readonly #volumes = new Store<Cached<Volume>>({});
  readonly #loop: Loop;
  readonly #stopping = new AbortController();
  #watching: Promise<unknown> = Promise.resolve();

  /** @param directoryOf where a node has its volumes */
  constructor(kubeconfig: string, directoryOf: (node: string) => string) {
    this.#connection = connect({ kubeconfigPath: kubeconfig });
    this.#world = realWorld(this.#connection.exchange);
    this.#client = new ObjectClient({ world: this.#world, ...unlimited, userAgent: 'local-volumes' });
    this.#directoryOf = directoryOf;
    const report = (error: unknown): void => void process.stderr.write(`local volumes: ${String(error)}\n`);
    this.#loop = new Loop(this.#world, () => this.#look(), report);
    for (const store of [this.#claims, this.#volumes]) store.subscribe(() => this.#loop.trigger());
  }

  async start(): Promise<void> {
    const reflectors = [
      this.#reflector(persistentVolumeClaims, this.#claims),
      this.#reflector(persistentVolumes, this.#volumes),
    ];
    this.#watching = Promise.all(reflectors.map((reflector) => reflector.run(this.#stopping.signal)));
    await Promise.all(reflectors.map(({ synced }) => synced));
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#loop.stop();
    await this.#watching;
    await this.#connection.close();
  }

  #reflector<T extends Claim | Volume>(kind: ResourceKind, store: Store<Cached<T>>): Reflector<Cached<T>> {
    const project = (raw: unknown): Cached<T> => {
      const object = raw as T;
      const { namespace = '', name, uid, resourceVersion } = object.metadata;
      return { namespace, name, uid, resourceVersion, object };
    };
    return new Reflector({ client: this.#client, world: this.#world, log: quiet, path: path(kind), store, project });
  }

  async #look(): Promise<null> {
    const claims = this.#claims.values().map(({ object }) => object);
    const volumes = this.#volumes.values().map(({ object }) => object);
    for (const step of volumeSteps(claims, volumes, this.#directoryOf)) {
      await this.#perform(step).catch((error: unknown) => {
        // Done before, and not yet seen.
        if (!isAlreadyExists(error) && !isNotFound(error)) throw error;
      });
    }
    return null;
  }

  async #perform(step: VolumeStep): Promise<void> {
    switch (step.kind) {
      case 'create': {
        const { path: directory } = step.volume.spec.local;
        await mkdir(directory, { recursive: true });
        await chmod(directory, everybody);
        await this.#client.create(persistentVolumes, {}, step.volume, options);
        return;
      }
      case 'grow': {
        const { storage, claim, volume } = step;
        const capacity = { storage };
        await this.#client.patch(persistentVolumes, { name: volume }, mergePatch, { spec: { capacity } }, options);
        const place = { ...claim, subresource: 'status' };
        await this.#client.patch(persistentVolumeClaims, place, mergePatch, { status: { capacity } }, options);
        return;
      }
      case 'delete':
        await rm(step.directory, { recursive: true, force: true });
        await this.#client.remove(persistentVolumes, { name: step.volume }, {}, options);
    }
  }
}

/** Of the one StorageClass, which is the default. */
export function volumesDirectory(nodeDirectory: string): string {
  return join(nodeDirectory, 'volumes');
}
