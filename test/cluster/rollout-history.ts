import { clearTimeout, setTimeout } from 'node:timers';
import { type MySQLRollout, rolloutKind } from '../../src/api/rollout.ts';
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
/** Longer than the two minutes for which the disruption controller may wait for an evicted pod whose end it has missed. */
const deadlineMilliseconds = 180_000;

/**
 * Every version of every object of the clusters under test, with the store's own revision of each, deletions included:
 * the events of the API server's watches as they are.
 */
export class History {
  readonly #client: ObjectClient;
  readonly #versions = new Map<string, Version[]>();
  readonly #current = new Map<string, Map<string, Version>>();
  readonly #listeners = new Map<string, Set<() => void>>();
  readonly #stopping = new AbortController();
  readonly #broken = Promise.withResolvers<never>();
  #running: Promise<unknown> = Promise.resolve();

  private constructor(client: ObjectClient) {
    this.#client = client;
    this.broken.catch(() => undefined);
  }

  static async start(client: ObjectClient, kinds = watched): Promise<History> {
    const history = new History(client);
    const starts = await Promise.all(
      kinds.map(async (kind) => {
        const list = await client.list<List>(kind, {}, { priority: 'read' });
        for (const object of list.items) history.#add(kind, object, object);
        return [kind, list.metadata.resourceVersion] as const;
      }),
    );
    history.#running = Promise.all(starts.map(([kind, version]) => history.#follow(kind, version))).catch(
      history.#broken.reject,
    );
    return history;
  }

  /** Rejects if a watch can't go on, since further versions are unknown then. So does every wait. */
  get broken(): Promise<never> {
    return this.#broken.promise;
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  now(namespace: string): Moment {
    return momentOf([...(this.#current.get(namespace)?.values() ?? [])]);
  }

  /** The objects of a kind as they are now. */
  present(namespace: string, kind: ResourceKind): readonly KubernetesObject[] {
    return objectsOf([...(this.#current.get(namespace)?.values() ?? [])], kind);
  }

  /** As it was just before the store's revision became this one. */
  before(namespace: string, revision: number): Moment {
    const latest = new Map<string, Version>();
    for (const version of this.versions(namespace)) {
      if (version.revision < revision) latest.set(version.identity.metadata.uid, version);
    }
    return momentOf([...latest.values()]);
  }

  /** In the order of the store. Their times never run backwards. */
  versions(namespace: string): readonly Version[] {
    let latest = 0;
    return (this.#versions.get(namespace) ?? [])
      .toSorted((one, other) => one.revision - other.revision)
      .map((version) => {
        latest = Math.max(latest, version.atMilliseconds);
        return { ...version, atMilliseconds: latest };
      });
  }

  /** All that the witness is to see. */
  witnessed(namespace: string): readonly Change[] {
    return this.versions(namespace)
      .filter(({ kind }) => kind !== events)
      .map((version) => ({ ...version, kind: version.kind.kind }) as unknown as Change);
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
    return Promise.race([promise, this.broken]).finally(() => {
      clearTimeout(timer);
      listeners.delete(ask);
    });
  }

  /** Lets go of a namespace that nobody asks about any more. */
  forget(namespace: string): void {
    this.#versions.delete(namespace);
    this.#current.delete(namespace);
  }

  async #follow(kind: ResourceKind, from: string): Promise<void> {
    const { signal } = this.#stopping;
    let resourceVersion = from;
    while (!signal.aborted) {
      try {
        const query = { watch: true, allowWatchBookmarks: true, resourceVersion };
        for await (const line of this.#client.stream(path(kind), query, signal)) {
          const event = parseWatchEvent(line);
          if (event.type === 'ERROR' || event.type === 'UNREADABLE') {
            throw new Error(`expected the ${kind.plural} that changed, got ${line.slice(0, 200)}`);
          }
          ({ resourceVersion } = event);
          if (event.type === 'BOOKMARK') continue;
          const identity = event.object as unknown as KubernetesObject;
          this.#add(kind, identity, event.type === 'DELETED' ? null : identity);
        }
      } catch (error) {
        if (!signal.aborted) throw error;
      }
    }
  }

  #add(kind: ResourceKind, raw: KubernetesObject, object: KubernetesObject | null): void {
    const identity = slim(raw);
    const { namespace = '', uid, resourceVersion } = identity.metadata;
    const version: Version = {
      atMilliseconds: Date.now(),
      revision: Number(resourceVersion),
      kind,
      object: object === null ? null : identity,
      identity,
    };
    const versions = this.#versions.get(namespace) ?? [];
    versions.push(version);
    this.#versions.set(namespace, versions);
    const current = this.#current.get(namespace) ?? new Map<string, Version>();
    if (object === null) current.delete(uid);
    else current.set(uid, version);
    this.#current.set(namespace, current);
    for (const listener of this.#listeners.get(namespace) ?? []) listener();
  }
}

/** Without what fills memory and is never asked about: which manager owns which field. */
function slim(raw: KubernetesObject): KubernetesObject {
  const { managedFields = [], ...metadata } = raw.metadata as KubernetesObject['metadata'] & {
    readonly managedFields?: readonly { readonly fieldsV1?: unknown }[];
  };
  const managers = managedFields.map(({ fieldsV1: _, ...manager }) => manager);
  return { ...raw, metadata: { ...metadata, managedFields: managers } as KubernetesObject['metadata'] };
}

function objectsOf(versions: readonly Version[], wanted: ResourceKind): readonly KubernetesObject[] {
  return versions.flatMap(({ kind, object }) => (kind === wanted && object !== null ? [object] : []));
}

function momentOf(versions: readonly Version[]): Moment {
  const of = (kind: ResourceKind): readonly unknown[] => objectsOf(versions, kind);
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
