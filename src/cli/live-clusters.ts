import { Cache } from '../controller/cache.ts';
import { wholeRecord } from '../controller/rollout-record.ts';
import { type MySQLRollout, rolloutKind } from '../controller/rollout-resource.ts';
import type { Query } from '../kube/api-client.ts';
import { Reflector } from '../kube/reflector.ts';
import { path, type ResourceKind } from '../kube/resource.ts';
import type { Store, Stored } from '../kube/store.ts';
import type { Json } from '../moco/json.ts';
import { clusterKind } from '../moco/names.ts';
import { projectCluster } from '../moco/projections.ts';
import type { ClusterRecord } from '../moco/records.ts';
import type { Session } from './session.ts';

/** A MySQLCluster and its MySQLRollout as they are at the moment. */
export interface LiveCluster {
  readonly cluster: ClusterRecord;
  readonly rollout: MySQLRollout | null;
}

/** Watches the MySQLClusters of a scope, or the one of a name, with their MySQLRollouts. */
export class LiveClusters {
  readonly #cache = new Cache();
  readonly #running: Promise<unknown>;
  readonly synced: Promise<unknown>;

  /** `changed` is called after each change. Ends with the signal. */
  constructor(session: Session, name: string | null, changed: () => void, signal: AbortSignal) {
    const { client, world, host, namespace } = session;
    const query: Query = name === null ? {} : { fieldSelector: `metadata.name=${name}` };
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
      reflect(clusterKind, this.#cache.clusters, projectCluster),
      reflect(rolloutKind, this.#cache.rollouts, (raw) => wholeRecord(raw as unknown as MySQLRollout)),
    ];
    this.#cache.clusters.subscribe(changed);
    this.#cache.rollouts.subscribe(changed);
    this.#running = Promise.all(reflectors.map((reflector) => reflector.run(signal)));
    this.synced = Promise.all(reflectors.map((reflector) => reflector.synced));
  }

  /** By namespace and name. */
  get all(): readonly LiveCluster[] {
    return this.#cache.clusters
      .values()
      .toSorted((one, other) => (`${one.namespace}/${one.name}` < `${other.namespace}/${other.name}` ? -1 : 1))
      .map((cluster) => ({
        cluster,
        rollout: this.#cache.rollouts.get(cluster.namespace, cluster.name)?.object ?? null,
      }));
  }

  /** Resolves once nothing of it runs any more. */
  get ended(): Promise<unknown> {
    return this.#running;
  }
}
