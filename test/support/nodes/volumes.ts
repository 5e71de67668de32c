import { persistentVolumeClaims } from '../../../src/kube/resource.ts';
import { Store } from '../../../src/kube/store.ts';
import { Loop } from '../moco/loop.ts';
import type { Access } from '../object-client.ts';
import { type Cached, cached, type Watching } from '../watching.ts';
import { claimStep } from './claims.ts';
import type { PersistentVolumeClaim } from './objects.ts';
import { perform } from './perform.ts';

/** Binds claims and lets them grow, as a provisioner does. */
export class Volumes {
  readonly #access: Access;
  readonly #claims = new Store<Cached<PersistentVolumeClaim>>({});
  readonly #loops = new Map<string, Loop>();

  constructor(access: Access, watching: Watching) {
    this.#access = access;
    watching.follow(this.#claims, persistentVolumeClaims, cached<PersistentVolumeClaim>);
    this.#claims.subscribe(({ after }) => {
      if (after !== null) {
        this.#loopOf(after.namespace, after.name).trigger();
      }
    });
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#loops.values()].map((loop) => loop.stop()));
  }

  #loopOf(namespace: string, name: string): Loop {
    const key = `${namespace}/${name}`;
    const loop = this.#loops.get(key) ?? new Loop(this.#access.world, () => this.#look(namespace, name));
    this.#loops.set(key, loop);
    return loop;
  }

  async #look(namespace: string, name: string): Promise<null> {
    const claim = this.#claims.get(namespace, name);
    for (const write of claim === undefined ? [] : claimStep(claim.object)) {
      await perform(this.#access.client, write);
    }
    return null;
  }
}
