import { rolloutKind } from '../../../src/api/rollout.ts';
import {
  persistentVolumeClaims,
  podDisruptionBudgets,
  pods,
  type ResourceKind,
  statefulSets,
} from '../../../src/kube/resource.ts';
import { clusterKind } from '../../../src/moco/names.ts';
import type { ApiServer } from '../../support/api-server/api-server.ts';
import type { StoreChange } from '../../support/api-server/object-store.ts';
import type { StoredObject } from '../../support/api-server/stored-object.ts';
import type { Chance } from './chance.ts';
import type { VirtualClock } from './clock.ts';
import { syncBudget } from './disruption-controller.ts';
import { collect, collectLateComer } from './garbage-collector.ts';
import { syncStatefulSet } from './stateful-set-controller.ts';

export interface KubeControllersOptions {
  readonly clock: VirtualClock;
  readonly chance: Chance;
  readonly server: ApiServer;
  readonly wall: () => number;
  readonly movesCurrentRevision: boolean;
}

/** The delay from a change to the resulting run. */
/** The garbage collector tries again with a rate limit of its own. */
const collectAgainMilliseconds = 1000;
const quickestMilliseconds = 2;
const slowestMilliseconds = 80;

/** What kube-controller-manager runs: StatefulSets, PodDisruptionBudgets, garbage collection. */
export class KubeControllers {
  readonly #options: KubeControllersOptions;
  readonly #templates = new Map<string, unknown>();
  readonly #waiting = new Set<string>();
  /** StatefulSets and budgets are looked at that much later than usual. */
  slowByMilliseconds = 0;

  constructor(options: KubeControllersOptions) {
    this.#options = options;
    options.server.store.subscribe((change) => this.#changed(change));
  }

  /** The retry after a refusal. */
  checkAll(): void {
    for (const set of this.#options.server.store.all(statefulSets)) this.#later(statefulSets, set);
  }

  #changed({ kind, object, type }: StoreChange): void {
    const { store } = this.#options.server;
    if (kind === statefulSets || kind === pods) {
      for (const set of store.all(statefulSets)) if (isAbout(set, object)) this.#later(statefulSets, set);
    }
    if (kind === podDisruptionBudgets || kind === pods || kind === statefulSets) {
      for (const budget of store.all(podDisruptionBudgets)) {
        if (isBeside(budget, object)) this.#later(podDisruptionBudgets, budget);
      }
    }
    const frees = kind === pods ? type === 'DELETED' : kind === persistentVolumeClaims && type !== 'DELETED';
    if (frees && this.#endingClaims().length > 0)
      this.#options.clock.after(quickestMilliseconds, () => this.#freeClaims());
    if (type === 'ADDED' && object.metadata.ownerReferences !== undefined) {
      this.#once(`keep ${object.metadata.uid}`, 0, () => collectLateComer(this.#options.server, kind, object));
    }
    // Most MySQLRollouts own nothing.
    const owns = kind === rolloutKind && store.all(pods).some((pod) => isOwnedBy(object, pod));
    const owner = kind === statefulSets || kind === clusterKind || owns;
    if (owner && (type === 'DELETED' || object.metadata.deletionTimestamp !== undefined)) {
      this.#collect(kind, object, 0);
    }
  }

  #collect(kind: ResourceKind, object: StoredObject, moreMilliseconds: number): void {
    this.#once(`collect ${object.metadata.uid}`, moreMilliseconds, () => {
      if (collect(this.#options.server, kind, object)) this.#collect(kind, object, collectAgainMilliseconds);
    });
  }

  /** Those of members whose pods are gone. */
  #endingClaims(): readonly StoredObject[] {
    const { store } = this.#options.server;
    const all = store.all(pods);
    const isUsed = (claim: StoredObject): boolean =>
      all.some((pod) => isBeside(claim, pod) && claim.metadata.name.endsWith(`-${pod.metadata.name}`));
    return store
      .all(persistentVolumeClaims)
      .filter(({ metadata }) => metadata.deletionTimestamp !== undefined)
      .filter((claim) => !isUsed(claim));
  }

  /** What the protection of claims does (kubernetes.io/pvc-protection): no pod uses them any more. */
  #freeClaims(): void {
    for (const claim of this.#endingClaims()) this.#options.server.store.remove(persistentVolumeClaims, claim);
    this.checkAll();
  }

  #later(kind: ResourceKind, { metadata }: StoredObject): void {
    const { server, wall, movesCurrentRevision } = this.#options;
    this.#once(`${kind.plural} ${metadata.namespace}/${metadata.name}`, this.slowByMilliseconds, () => {
      const object = server.store.get(kind, metadata.namespace ?? '', metadata.name);
      if (object === null) return;
      if (kind === podDisruptionBudgets) {
        const again = syncBudget(server, object, wall());
        if (again !== null) this.#options.clock.after(again, () => this.#later(kind, object));
      } else syncStatefulSet(server, object, { movesCurrentRevision, templates: this.#templates });
    });
  }

  /** Changes before the run are seen by it. */
  #once(key: string, moreMilliseconds: number, look: () => void): void {
    if (this.#waiting.has(key)) return;
    this.#waiting.add(key);
    const { clock, chance } = this.#options;
    clock.after(chance.between(quickestMilliseconds, slowestMilliseconds) + moreMilliseconds, () => {
      this.#waiting.delete(key);
      look();
    });
  }
}

/** In the same namespace. */
const isBeside = (one: StoredObject, other: StoredObject): boolean =>
  one.metadata.namespace === other.metadata.namespace;

const isOwnedBy = (owner: StoredObject, { metadata }: StoredObject): boolean =>
  metadata.ownerReferences?.some(({ uid }) => uid === owner.metadata.uid) ?? false;

function isAbout({ metadata }: StoredObject, changed: StoredObject): boolean {
  const { namespace, name } = changed.metadata;
  return namespace === metadata.namespace && (name === metadata.name || name.startsWith(`${metadata.name}-`));
}
