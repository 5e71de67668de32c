import type { World } from '../../../src/base/world.ts';
import { Deadlines } from '../../../src/core/deadlines.ts';
import { classify } from '../../../src/core/member.ts';
import type { MemberFacts } from '../../../src/core/snapshot.ts';
import { keyOf } from '../../../src/kube/store.ts';
import { Ages } from '../../../src/moco/ages.ts';
import { objectFacts } from '../../../src/moco/cluster-facts.ts';
import { statefulSetName } from '../../../src/moco/names.ts';
import type { ClusterObjects } from '../../../src/moco/records.ts';
import { Cache } from '../../../src/objects/cache.ts';
import { Watches } from '../../../src/objects/watches.ts';
import type { ObjectClient } from '../../support/object-client.ts';
import { silentLog } from '../../support/silent-log.ts';
import type { MemberSight, Sight } from './sight.ts';

/** Watches through which clusters are followed. */
export class LiveClusters {
  readonly #world: World;
  readonly #cache = new Cache();
  readonly #stopping = new AbortController();
  readonly #running: Promise<void>;

  /** @param namespaces default: all */
  constructor(client: ObjectClient, world: World, namespaces: readonly string[]) {
    this.#world = world;
    this.#running = new Watches(this.#cache, client, world, silentLog, namespaces).run(this.#stopping.signal);
  }

  follow(namespace: string, name: string): LiveCluster {
    return new LiveCluster(this.#cache, this.#world, keyOf(namespace, name));
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }
}

/** One cluster as the watches show it, a new sight with every change. */
export class LiveCluster {
  readonly #world: World;
  readonly #key: string;
  readonly #cache: Cache;
  readonly #ages: Ages;
  readonly #listeners = new Set<(sight: Sight) => void>();
  #ended = false;
  #sight: Sight | null = null;

  constructor(cache: Cache, world: World, key: string) {
    this.#world = world;
    this.#key = key;
    this.#cache = cache;
    this.#ages = new Ages(world);
    cache.onChange((changed) => {
      if (changed === key && !this.#ended) this.#observe();
    });
  }

  /** The newest; `null` before there is a MySQLCluster. */
  get sight(): Sight | null {
    return this.#sight;
  }

  /** Returns a function that ends it. */
  onSight(listener: (sight: Sight) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /**
   * Resolves as soon as it is so, or as `race` ends.
   *
   * @param overdue the sentence that it rejects with once `limitMilliseconds` are over, of the newest sight
   */
  async until(
    condition: (sight: Sight) => boolean,
    limitMilliseconds: number,
    overdue: (sight: Sight | null) => string,
    race: (work: Promise<void>) => Promise<void>,
  ): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const check = (sight: Sight | null): void => {
      if (sight !== null && condition(sight)) resolve();
    };
    const unsubscribe = this.onSight(check);
    const timer = setTimeout(() => reject(new Error(overdue(this.#sight))), limitMilliseconds);
    try {
      check(this.#sight);
      await race(promise);
    } finally {
      clearTimeout(timer);
      unsubscribe();
    }
  }

  stop(): void {
    this.#ended = true;
  }

  #observe(): void {
    const objects = this.#cache.objects(this.#key);
    if (objects === null) return;
    const [namespace = '', name = ''] = this.#key.split('/');
    const status = this.#cache.rollouts.get(namespace, name)?.object.status ?? null;
    const facts = this.#ages.observe(() => objectFacts(objects, this.#ages, null));
    this.#sight = { atMilliseconds: this.#world.monotonic(), ...clusterSight(objects, facts.members), status };
    for (const listener of this.#listeners) listener(this.#sight);
  }
}

type ClusterSight = Omit<Sight, 'atMilliseconds' | 'status'>;

function clusterSight({ cluster, statefulSet }: ClusterObjects, members: readonly MemberFacts[]): ClusterSight {
  const { name, generation, replicas, primaryIndex, healthy, available, rolloutComplete, errantOrdinals } = cluster;
  const ordinals = [...new Set([...Array(replicas).keys(), ...members.map(({ ordinal }) => ordinal)])];
  return {
    name,
    generation,
    primary: primaryIndex,
    healthy,
    available,
    updateRevision: statefulSet?.updateRevision ?? '',
    complete: rolloutComplete?.status === true && rolloutComplete.observedGeneration === generation,
    members: ordinals.toSorted(ascending).map((ordinal) => {
      const facts = members.find((member) => member.ordinal === ordinal);
      const memberName = `${statefulSetName(name)}-${ordinal}`;
      return facts ? memberSight(facts, errantOrdinals.includes(ordinal)) : missing(ordinal, memberName);
    }),
  };
}

const ascending = (one: number, other: number): number => one - other;

function missing(ordinal: number, name: string): MemberSight {
  const none = { uid: null, revision: null, role: null, ready: false, terminating: false, demoted: false };
  return { ordinal, name, ...none, state: 'missing' };
}

function memberSight(facts: MemberFacts, errant: boolean): MemberSight {
  const { ordinal, name, uid, revision, role, ready, demote } = facts;
  const { state } = classify(facts, errant, new Deadlines());
  const mysqld = facts.containers.find(({ part }) => part === 'mysqld');
  return {
    ordinal,
    name,
    uid,
    revision,
    role,
    ready,
    terminating: facts.terminatingForSeconds !== null,
    state: state === 'running' && mysqld?.state !== 'running' ? 'starting' : state,
    demoted: demote,
  };
}
