import { clearTimeout, setTimeout } from 'node:timers';
import { setTimeout as pause } from 'node:timers/promises';
import { type MySQLRollout, rolloutKind } from '../../src/api/rollout.ts';
import { isGone } from '../../src/kube/api-error.ts';
import { parseWatchEvent } from '../../src/kube/list-watch.ts';
import {
  events,
  jobs,
  path,
  persistentVolumeClaims,
  podDisruptionBudgets,
  pods,
  type ResourceKind,
  statefulSets,
} from '../../src/kube/resource.ts';
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
import { patienceMilliseconds } from '../support/patience.ts';
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

interface List {
  readonly metadata: { readonly resourceVersion: string };
  readonly items: readonly KubernetesObject[];
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

const retryMilliseconds = 200;

/**
 * Every version of every object of the clusters under test, deletions included, each with the store's own revision: the
 * unchanged events of the API server's watches.
 */
export class History {
  readonly #client: ObjectClient;
  readonly #versions = new Map<string, Version[]>();
  readonly #current = new Map<string, Map<string, Version>>();
  readonly #listeners = new Map<string, Set<() => void>>();
  readonly #stopping = new AbortController();
  #running: Promise<unknown> = Promise.resolve();
  #broken: Error | null = null;

  private constructor(client: ObjectClient) {
    this.#client = client;
  }

  /** `onBroken` is called if a watch can't continue: further changes are unknown, and whoever asks gets the error. */
  static async start(client: ObjectClient, onBroken: (error: Error) => void = () => {}): Promise<History> {
    const history = new History(client);
    const starts = await Promise.all(
      watched.map(async (kind) => {
        const { items, metadata } = await client.list<List>(kind, {}, { priority: 'read' });
        for (const object of items) history.#add(kind, object, true);
        return [kind, metadata.resourceVersion] as const;
      }),
    );
    history.#running = Promise.all(starts.map(([kind, from]) => history.#follow(kind, from))).catch(
      (error: unknown) => {
        history.#broken = new Error(`Expected to see every version of every object: ${String(error)}`, {
          cause: error,
        });
        for (const listeners of history.#listeners.values()) for (const ask of listeners) ask();
        onBroken(history.#broken);
      },
    );
    return history;
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  now(namespace: string): Moment {
    if (this.#broken !== null) throw this.#broken;
    return momentOf([...(this.#current.get(namespace)?.values() ?? [])]);
  }

  /** The objects of a kind that there are now. */
  present(namespace: string, of: ResourceKind): readonly KubernetesObject[] {
    const versions = [...(this.#current.get(namespace)?.values() ?? [])];
    return versions.flatMap(({ kind, object }) => (kind === of && object !== null ? [object] : []));
  }

  /** As it was just before the store's revision became this one. */
  before(namespace: string, revision: number): Moment {
    const latest = new Map<string, Version>();
    for (const version of this.#of(namespace)) if (version.revision < revision) latest.set(version.uid, version);
    return momentOf([...latest.values()]);
  }

  /** Every version of every object, in the order of the store. */
  record(namespace: string): readonly Version[] {
    return this.#of(namespace).toSorted((one, other) => one.revision - other.revision);
  }

  /** Every version of the objects of a kind that there was, in order. */
  versions(namespace: string, of: ResourceKind): readonly (readonly [revision: number, object: KubernetesObject])[] {
    return this.#of(namespace).flatMap(({ revision, kind, object }) =>
      kind === of && object !== null ? [[revision, object] as const] : [],
    );
  }

  /** All that the witness is to see, in the order of the store. Times never run backwards. */
  witnessed(namespace: string): readonly Change[] {
    let latest = 0;
    return this.record(namespace)
      .filter(({ kind }) => kind !== events)
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
      reject(new Error(`Expected that ${sentence} within ${patienceMilliseconds} ms, it did not come`));
    }, patienceMilliseconds);
    ask();
    return promise.finally(() => {
      clearTimeout(timer);
      listeners.delete(ask);
    });
  }

  /** Forgets a namespace that is no longer needed. */
  forget(namespace: string): void {
    this.#versions.delete(namespace);
    this.#current.delete(namespace);
  }

  #of(namespace: string): readonly Version[] {
    if (this.#broken !== null) throw this.#broken;
    return this.#versions.get(namespace) ?? [];
  }

  /** A connection that breaks is made again from where it was. What the API server has forgotten meanwhile is lost. */
  async #follow(kind: ResourceKind, from: string): Promise<void> {
    const { signal } = this.#stopping;
    let resourceVersion = from;
    while (!signal.aborted) {
      const query = { watch: true, allowWatchBookmarks: true, resourceVersion };
      const lines = this.#client.stream(path(kind), query, signal)[Symbol.asyncIterator]();
      for (;;) {
        const line = await lines.next().catch((error: unknown) => {
          if (isGone(error)) throw error;
          return null;
        });
        if (line === null || line.done === true) break;
        const event = parseWatchEvent(line.value);
        if (event.type === 'ERROR' || event.type === 'UNREADABLE' || event.type === 'TOO_LARGE') {
          throw new Error(`expected the ${kind.plural} that changed, got ${line.value.slice(0, 200)}`);
        }
        ({ resourceVersion } = event);
        if (event.type === 'BOOKMARK') continue;
        this.#add(kind, event.object as unknown as KubernetesObject, event.type !== 'DELETED');
      }
      await pause(retryMilliseconds, undefined, { signal }).catch(() => undefined);
    }
  }

  #add(kind: ResourceKind, raw: KubernetesObject, exists: boolean): void {
    const { namespace, uid, resourceVersion } = raw.metadata;
    const identity = slim(raw);
    const version: Version = {
      atMilliseconds: Date.now(),
      revision: Number(resourceVersion),
      kind,
      uid,
      object: exists ? identity : null,
      identity,
    };
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

/** Without what fills memory and is never asked about: which manager owns which field. */
function slim(raw: KubernetesObject): KubernetesObject {
  const { managedFields = [] } = raw.metadata as {
    readonly managedFields?: readonly { readonly fieldsV1?: unknown }[];
  };
  const managers = managedFields.map(({ fieldsV1: _, ...manager }) => manager);
  return { ...raw, metadata: { ...raw.metadata, managedFields: managers } };
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
