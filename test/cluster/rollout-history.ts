import { clearTimeout, setTimeout } from 'node:timers';
import { type MySQLRollout, rolloutKind } from '../../src/api/rollout.ts';
import { Reflector } from '../../src/kube/reflector.ts';
import {
  events,
  jobs,
  persistentVolumeClaims,
  podDisruptionBudgets,
  pods,
  type ResourceKind,
  statefulSets,
} from '../../src/kube/resource.ts';
import { Store, type Stored } from '../../src/kube/store.ts';
import type { World } from '../../src/kube/world.ts';
import { appNameLabel, appNameOfMoco, clusterKind } from '../../src/moco/names.ts';
import type {
  Condition,
  KubernetesObject,
  MySQLCluster,
  PersistentVolumeClaim,
  Pod,
  StatefulSet,
} from '../support/moco/objects.ts';
import type { ObjectClient } from '../support/object-client.ts';
import type { Change } from '../verification/witness/moment.ts';

/** An Event of events.k8s.io, as much of it as is asked about. */
export interface EventObject extends KubernetesObject {
  readonly type: string;
  readonly reason: string;
  readonly note: string;
  readonly regarding: { readonly kind: string; readonly name: string };
}

export interface Budget extends KubernetesObject {
  readonly spec: { readonly maxUnavailable?: number | string };
}

/** The one cluster of a namespace at one moment. */
export interface Moment {
  readonly cluster: MySQLCluster | null;
  readonly statefulSet: StatefulSet | null;
  /** Ascending by ordinal. */
  readonly pods: readonly Pod[];
  readonly rollout: MySQLRollout | null;
  readonly claims: readonly PersistentVolumeClaim[];
  readonly budgets: readonly Budget[];
  readonly events: readonly EventObject[];
}

/** One version of one object, or its end. */
interface Version {
  /** Of its arrival here, since 1970. */
  readonly atMilliseconds: number;
  /** The revision of the API server's store. Objects of all kinds share one count. */
  readonly revision: number;
  readonly kind: ResourceKind;
  readonly uid: string;
  readonly object: KubernetesObject | null;
  /** Of a deleted one what was last seen. */
  readonly identity: KubernetesObject;
}

interface Seen extends Stored {
  readonly object: KubernetesObject;
}

const watched: readonly ResourceKind[] = [
  clusterKind,
  statefulSets,
  pods,
  rolloutKind,
  persistentVolumeClaims,
  podDisruptionBudgets,
  jobs,
  events,
];
/** Longer than the two minutes for which the disruption controller may wait for an evicted pod whose end it has missed. */
const deadlineMilliseconds = 180_000;

/** Every version of every object of the clusters under test, as the API server's watches have told them. */
export class History {
  readonly #versions = new Map<string, Version[]>();
  readonly #current = new Map<string, Map<string, Version>>();
  readonly #listeners = new Map<string, Set<() => void>>();
  readonly #stopping = new AbortController();
  #running: Promise<unknown> = Promise.resolve();

  static async start(client: ObjectClient, world: World): Promise<History> {
    const history = new History();
    const log = { debug: ignore, info: ignore, warn: ignore, error: ignore };
    const reflectors = watched.map((kind) => {
      const store = new Store<Seen>({});
      let newest = 0;
      store.subscribe(({ before, after }) => {
        // The end of an object comes right after the last version that was heard of.
        newest = after === null ? newest + endFraction : Number(after.resourceVersion);
        const record = after ?? before;
        if (record !== null) {
          history.#add(record.namespace, {
            atMilliseconds: Date.now(),
            revision: newest,
            kind,
            uid: record.uid,
            object: after?.object ?? null,
            identity: record.object,
          });
        }
      });
      const project = (raw: unknown): Seen => seen(raw as KubernetesObject);
      return new Reflector<Seen>({ client, world, log, kind, store, project });
    });
    history.#running = Promise.all(reflectors.map((reflector) => reflector.run(history.#stopping.signal)));
    await Promise.all(reflectors.map(({ synced }) => synced));
    return history;
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  now(namespace: string): Moment {
    return momentOf([...(this.#current.get(namespace)?.values() ?? [])]);
  }

  /** As it was just before the store's revision became this one. */
  before(namespace: string, revision: number): Moment {
    const latest = new Map<string, Version>();
    for (const version of this.#of(namespace)) if (version.revision < revision) latest.set(version.uid, version);
    return momentOf([...latest.values()]);
  }

  /** Every version of the objects of a kind that there was, in order. */
  versions(namespace: string, of: ResourceKind): readonly (readonly [revision: number, object: KubernetesObject])[] {
    return this.#of(namespace).flatMap(({ revision, kind, object }) =>
      kind === of && object !== null ? [[revision, object] as const] : [],
    );
  }

  /** Revisions at which anything changed, from one up to another, both included. */
  changes(namespace: string, from: number, to: number): readonly number[] {
    return this.#of(namespace)
      .map(({ revision }) => revision)
      .filter((revision) => revision >= from && revision <= to);
  }

  /** All that the witness is to see, in the order of the store. Times never run backwards. */
  witnessed(namespace: string): readonly Change[] {
    let latest = 0;
    return this.#of(namespace)
      .filter(({ kind }) => kind !== events)
      .toSorted((one, other) => one.revision - other.revision)
      .map((version) => {
        latest = Math.max(latest, version.atMilliseconds);
        return { ...version, kind: version.kind.kind, atMilliseconds: latest } as unknown as Change;
      });
  }

  /** Whether an object of this uid has been seen at this revision or a later one. */
  shows(namespace: string, uid: string, revision: number): boolean {
    return this.#of(namespace).some((version) => version.uid === uid && version.revision >= revision);
  }

  /** Resolves to what the condition gives once that is something; asks again at every change and at no other time. */
  until<T>(
    namespace: string,
    sentence: string,
    condition: (moment: Moment) => T | undefined | false | null,
    milliseconds = deadlineMilliseconds,
  ): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const ask = (): void => {
      try {
        const answer = condition(this.now(namespace));
        if (answer !== undefined && answer !== false && answer !== null) resolve(answer);
      } catch (error) {
        reject(error instanceof Error ? error : new Error(String(error)));
      }
    };
    const listeners = this.#listeners.get(namespace) ?? new Set();
    this.#listeners.set(namespace, listeners.add(ask));
    const timer = setTimeout(() => {
      reject(new Error(`Expected that ${sentence} within ${milliseconds} ms, it did not come`));
    }, milliseconds);
    ask();
    return promise.finally(() => {
      clearTimeout(timer);
      listeners.delete(ask);
    });
  }

  /** Lets go of a namespace that nobody asks about any more. */
  forget(namespace: string): void {
    this.#versions.delete(namespace);
    this.#current.delete(namespace);
  }

  #of(namespace: string): readonly Version[] {
    return this.#versions.get(namespace) ?? [];
  }

  #add(namespace: string, version: Version): void {
    const versions = this.#versions.get(namespace) ?? [];
    versions.push(version);
    this.#versions.set(namespace, versions);
    const current = this.#current.get(namespace) ?? new Map<string, Version>();
    if (version.object === null) current.delete(version.uid);
    else current.set(version.uid, version);
    this.#current.set(namespace, current);
    for (const listener of this.#listeners.get(namespace) ?? []) listener();
  }
}

const endFraction = 0.001;

function ignore(): void {}

/** Without what fills memory and is never asked about. */
function seen(raw: KubernetesObject): Seen {
  const { managedFields: _, ...metadata } = raw.metadata;
  const { namespace, name, uid, resourceVersion } = metadata;
  return { namespace, name, uid, resourceVersion, object: { ...raw, metadata } };
}

function momentOf(versions: readonly Version[]): Moment {
  const of = (wanted: ResourceKind): readonly unknown[] =>
    versions.filter(({ kind, object }) => kind === wanted && object !== null).map(({ object }) => object);
  // Those of Jobs have other names.
  const members = (of(pods) as readonly Pod[]).filter(
    ({ metadata }) => metadata.labels?.[appNameLabel] === appNameOfMoco,
  );
  return {
    cluster: (of(clusterKind)[0] ?? null) as MySQLCluster | null,
    statefulSet: (of(statefulSets)[0] ?? null) as StatefulSet | null,
    pods: members.toSorted((left, right) => left.metadata.name.localeCompare(right.metadata.name)),
    rollout: (of(rolloutKind)[0] ?? null) as MySQLRollout | null,
    claims: of(persistentVolumeClaims) as readonly PersistentVolumeClaim[],
    budgets: of(podDisruptionBudgets) as readonly Budget[],
    events: of(events) as readonly EventObject[],
  };
}

export function conditionOf(cluster: MySQLCluster | null, type: string): Condition | undefined {
  return cluster?.status?.conditions?.find((condition) => condition.type === type);
}
