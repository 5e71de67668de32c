import type { Reflector } from '../../../src/kube/reflector.ts';
import { persistentVolumeClaims } from '../../../src/kube/resource.ts';
import { Store } from '../../../src/kube/store.ts';
import { Loop } from '../moco/loop.ts';
import { claimStep } from './claims.ts';
import type { PersistentVolumeClaim } from './objects.ts';
import { perform } from './perform.ts';
import { type Cached, type Dependencies, reportFailure, watch } from './watch.ts';

/** Binds claims and lets them grow, as a provisioner does. */
export class Volumes {
  readonly reflector: Reflector<Cached<PersistentVolumeClaim>>;
  readonly #dependencies: Dependencies;
  readonly #claims = new Store<Cached<PersistentVolumeClaim>>({});
  readonly #loops = new Map<string, Loop>();

  constructor(dependencies: Dependencies) {
    this.#dependencies = dependencies;
    this.reflector = watch(dependencies, persistentVolumeClaims, this.#claims);
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
    const { world, log } = this.#dependencies;
    const look = (): Promise<null> => this.#look(namespace, name);
    const loop = this.#loops.get(key) ?? new Loop(world, look, (error) => reportFailure(log, `claim ${key}`, error));
    this.#loops.set(key, loop);
    return loop;
  }

  async #look(namespace: string, name: string): Promise<null> {
    const claim = this.#claims.get(namespace, name);
    for (const write of claim === undefined ? [] : claimStep(claim.object)) {
      await perform(this.#dependencies.client, write);
    }
    return null;
  }
}
