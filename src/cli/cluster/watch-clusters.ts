import { type MySQLRollout, rolloutKind } from '../../api/rollout.ts';
import { Cache } from '../../controller/observe/cache.ts';
import { wholeRecord } from '../../controller/observe/rollout-record.ts';
import type { Query } from '../../kube/api-client.ts';
import { Reflector } from '../../kube/reflector.ts';
import { path, type ResourceKind } from '../../kube/resource.ts';
import type { Store, Stored } from '../../kube/store.ts';
import type { Json } from '../../moco/json.ts';
import { clusterKind } from '../../moco/names.ts';
import { projectCluster } from '../../moco/projections.ts';
import type { ClusterRecord } from '../../moco/records.ts';
import type { Session } from './session.ts';

/** The current MySQLCluster and its MySQLRollout. */
export interface LiveCluster {
  readonly cluster: ClusterRecord;
  readonly rollout: MySQLRollout | null;
}

/** Watches the MySQLClusters of the session's scope, or the named ones, with their MySQLRollouts. */
export class LiveClusters {
  readonly #cache = new Cache();
  readonly #running: Promise<unknown>;
  readonly #names: readonly string[];
  readonly synced: Promise<unknown>;

  /** Watches until the signal is aborted. Without names, all clusters that the session's label selector selects. */
  constructor(session: Session, names: readonly string[], signal: AbortSignal) {
    const { client, world, host, namespace, selector } = session;
    this.#names = names;
    const byName: Query = names.length === 1 ? { fieldSelector: `metadata.name=${names[0]}` } : {};
    const byLabel: Query = names.length === 0 && selector !== undefined ? { labelSelector: selector } : {};
    const quiet = (): void => undefined;
    const log = {
      debug: quiet,
      info: quiet,
      warn: (_: object, message: string): void => host.err(`warning: ${message}\n`),
      error: (_: object, message: string): void => host.err(`warning: ${message}\n`),
    };
    const reflect = <R extends Stored>(
      kind: ResourceKind,
      store: Store<R>,
      query: Query,
      project: (raw: Json) => R | null,
    ): Reflector<R> =>
      new Reflector<R>({
        client,
        world,
        log,
        path: path(kind, namespace === null ? {} : { namespace }),
        query,
        store,
        project,
        pageSize: 500,
        onUnavailable: quiet,
      });
    const reflectors = [
      reflect(clusterKind, this.#cache.clusters, { ...byName, ...byLabel }, projectCluster),
      reflect(rolloutKind, this.#cache.rollouts, byName, (raw) => wholeRecord(raw as unknown as MySQLRollout)),
    ];
    this.#running = Promise.all(reflectors.map((reflector) => reflector.run(signal)));
    this.synced = Promise.all(reflectors.map((reflector) => reflector.synced));
  }

  /** Calls back after each change. */
  subscribe(changed: () => void): void {
    this.#cache.clusters.subscribe(changed);
    this.#cache.rollouts.subscribe(changed);
  }

  /** By namespace and name. */
  get all(): readonly LiveCluster[] {
    return this.#cache.clusters
      .values()
      .filter(({ name }) => this.#names.length === 0 || this.#names.includes(name))
      .toSorted((one, other) => (`${one.namespace}/${one.name}` < `${other.namespace}/${other.name}` ? -1 : 1))
      .map((cluster) => ({
        cluster,
        rollout: this.#cache.rollouts.get(cluster.namespace, cluster.name)?.object ?? null,
      }));
  }

  /** Resolves once both watches have ended. */
  get ended(): Promise<unknown> {
    return this.#running;
  }
}
