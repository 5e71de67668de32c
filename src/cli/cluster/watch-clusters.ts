import { type MySQLRollout, rolloutKind } from '../../api/rollout.ts';
import { Cache } from '../../controller/observe/cache.ts';
import { type RolloutRecord, wholeRecord } from '../../controller/observe/rollout-record.ts';
import type { Query } from '../../kube/api-client.ts';
import type { Json } from '../../moco/json.ts';
import { clusterKind } from '../../moco/names.ts';
import { projectCluster } from '../../moco/projections.ts';
import type { ClusterRecord } from '../../moco/records.ts';
import { reflectorOf } from './reflect.ts';
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
    const { namespace, selector } = session;
    this.#names = names;
    const byName: Query = names.length === 1 ? { fieldSelector: `metadata.name=${names[0]}` } : {};
    const byLabel: Query = names.length === 0 && selector !== undefined ? { labelSelector: selector } : {};
    const { clusters, rollouts } = this.#cache;
    const reflectors = [
      reflectorOf(session, {
        kind: clusterKind,
        namespace,
        query: { ...byName, ...byLabel },
        store: clusters,
        project: projectCluster,
      }),
      reflectorOf(session, { kind: rolloutKind, namespace, query: byName, store: rollouts, project: projectRollout }),
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

export const projectRollout = (raw: Json): RolloutRecord => wholeRecord(raw as unknown as MySQLRollout);
