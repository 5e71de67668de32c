import { clearTimeout, setTimeout } from 'node:timers';
import { rolloutKind } from '../../../src/api/rollout.ts';
import { parseWatchEvent } from '../../../src/kube/list-watch.ts';
import {
  jobs,
  path,
  persistentVolumeClaims,
  podDisruptionBudgets,
  pods,
  type ResourceKind,
  statefulSets,
} from '../../../src/kube/resource.ts';
import { clusterKind } from '../../../src/moco/names.ts';
import type { ObjectClient } from '../../support/object-client.ts';
import type { Change } from '../witness/moment.ts';
import type { WitnessedKind, WitnessedObject } from '../witness/objects.ts';

const watched: readonly ResourceKind[] = [
  clusterKind,
  statefulSets,
  pods,
  rolloutKind,
  podDisruptionBudgets,
  persistentVolumeClaims,
  jobs,
];

/** What a cluster's objects are at the moment, by kind and name. */
export type Present = ReadonlyMap<string, WitnessedObject>;

/**
 * Every version of every object that the witness observes, with the store's own revision of each, deletions included:
 * the unchanged events of the API server's watches.
 */
export class StoreRecord {
  readonly #client: ObjectClient;
  readonly #changes = new Map<string, Change[]>();
  readonly #present = new Map<string, Map<string, WitnessedObject>>();
  readonly #listeners = new Map<string, Set<() => void>>();
  readonly #stopping = new AbortController();
  #running: Promise<unknown> = Promise.resolve();

  private constructor(client: ObjectClient) {
    this.#client = client;
  }

  /** `onBroken` is called if a watch can't continue, since further changes are unknown. */
  static async start(client: ObjectClient, onBroken: (error: unknown) => void): Promise<StoreRecord> {
    const record = new StoreRecord(client);
    const starts = await Promise.all(
      watched.map(async (kind) => {
        const list = await client.list<List>(kind, {}, { priority: 'read' });
        for (const object of list.items) record.#add(kind, object, object);
        return [kind, list.metadata.resourceVersion] as const;
      }),
    );
    record.#running = Promise.all(starts.map(([kind, version]) => record.#follow(kind, version))).catch(onBroken);
    return record;
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#running;
  }

  /** In the order of the store. Their times are those of their arrival here, and never run backwards. */
  changes(namespace: string): readonly Change[] {
    const changes = (this.#changes.get(namespace) ?? []).toSorted((one, other) => one.revision - other.revision);
    let latest = 0;
    return changes.map((change) => {
      latest = Math.max(latest, change.atMilliseconds);
      return { ...change, atMilliseconds: latest };
    });
  }

  present(namespace: string): Present {
    return this.#present.get(namespace) ?? new Map();
  }

  /** Resolves to whether the condition held in time; it is checked at every change only. */
  async until(namespace: string, condition: (present: Present) => boolean, milliseconds: number): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const ask = (): void => {
      if (condition(this.present(namespace))) resolve(true);
    };
    const listeners = this.#listeners.get(namespace) ?? new Set();
    this.#listeners.set(namespace, listeners.add(ask));
    const timer = setTimeout(() => resolve(false), milliseconds);
    // Whoever does not wait for it to the end does not keep the process alive for it.
    timer.unref();
    ask();
    const held = await promise;
    clearTimeout(timer);
    listeners.delete(ask);
    return held;
  }

  /** Forgets a namespace that is not needed any more. */
  forget(namespace: string): void {
    this.#changes.delete(namespace);
    this.#present.delete(namespace);
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
          const identity = event.object as unknown as WitnessedObject;
          this.#add(kind, identity, event.type === 'DELETED' ? null : identity);
        }
      } catch (error) {
        if (!signal.aborted) throw error;
      }
    }
  }

  #add(kind: ResourceKind, raw: WitnessedObject, object: WitnessedObject | null): void {
    const identity = slim(raw);
    const { namespace = '', name, resourceVersion } = identity.metadata;
    const changes = this.#changes.get(namespace) ?? [];
    changes.push({
      revision: Number(resourceVersion),
      atMilliseconds: Date.now(),
      kind: kind.kind as WitnessedKind,
      object: object === null ? null : identity,
      identity,
    });
    this.#changes.set(namespace, changes);
    const present = this.#present.get(namespace) ?? new Map<string, WitnessedObject>();
    this.#present.set(namespace, present);
    if (object === null) present.delete(`${kind.kind}/${name}`);
    else present.set(`${kind.kind}/${name}`, identity);
    for (const listener of this.#listeners.get(namespace) ?? []) listener();
  }
}

interface List {
  readonly metadata: { readonly resourceVersion: string };
  readonly items: readonly WitnessedObject[];
}

/** Without what fills memory and is never asked about. */
function slim(raw: WitnessedObject): WitnessedObject {
  const { managedFields: _, ...metadata } = raw.metadata as WitnessedObject['metadata'] & { managedFields?: unknown };
  return { ...raw, metadata };
}
