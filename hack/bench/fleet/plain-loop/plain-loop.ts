import { delay } from '../../../../src/base/delay.ts';
import type { Log, World } from '../../../../src/base/world.ts';
import { isNotFound, isTooManyRequests } from '../../../../src/kube/api-error.ts';
import { podDisruptionBudgets, pods, statefulSets } from '../../../../src/kube/resource.ts';
import { keyOf, nameOf, Store, type Stored } from '../../../../src/kube/store.ts';
import { createdBySelector, memberSelector } from '../../../../src/moco/names.ts';
import { projectPod } from '../../../../src/moco/pod-projection.ts';
import { projectBudget, projectStatefulSet } from '../../../../src/moco/projections.ts';
import type { BudgetRecord, PodRecord, StatefulSetRecord } from '../../../../src/moco/records.ts';
import type { Access, ObjectClient } from '../../../../test/support/object-client.ts';
import { Watching } from '../../../../test/support/watching.ts';

// The simplest possible rival of the controller, for comparison.

const byCluster = 'cluster';
const retryMilliseconds = 1000;
/** MOCO gives StatefulSet and PodDisruptionBudget the same name. */
const clusterOfPod = ({ namespace, clusterName }: PodRecord): string => keyOf(namespace, `moco-${clusterName}`);

/**
 * The minimum of a rolling update: one task for each cluster evicts the next stale member, the primary last, and waits
 * until its successor is ready and the budget allows another eviction. It ignores MOCO's status, confirms nothing and
 * records nothing, like a script with watches.
 */
export class PlainLoop {
  readonly #client: ObjectClient;
  readonly #statefulSets = new Store<StatefulSetRecord>({});
  readonly #budgets = new Store<BudgetRecord>({});
  readonly #pods = new Store<PodRecord>({
    [byCluster]: clusterOfPod,
  });
  readonly #watching: Watching;
  /** The tasks that wait for a change of their cluster, by cluster. */
  readonly #waiting = new Map<string, () => void>();
  readonly #tasks = new Set<string>();
  /** Clusters that changed while their task was sending a request. */
  readonly #missed = new Set<string>();
  readonly #world: World;
  readonly #log: Log;

  constructor(access: Access, log: Log) {
    this.#client = access.client;
    this.#world = access.world;
    this.#log = log;
    const watching = new Watching(access, log);
    this.#watching = watching;
    const ofMembers = { labelSelector: memberSelector };
    watching.follow(this.#statefulSets, statefulSets, projectStatefulSet, ofMembers);
    watching.follow(this.#budgets, podDisruptionBudgets, projectBudget, { labelSelector: createdBySelector });
    watching.follow(this.#pods, pods, projectPod, ofMembers);
    const about = <R extends Stored>(store: Store<R>, clusterOf: (record: R) => string): void => {
      store.subscribe(({ before, after }) => {
        const record = after ?? before;
        if (record !== null) this.#changed(clusterOf(record));
      });
    };
    about(this.#statefulSets, nameOf);
    about(this.#budgets, nameOf);
    about(this.#pods, clusterOfPod);
  }

  /** Resolves once everything has been listed. */
  start(): Promise<void> {
    return this.#watching.start();
  }

  #changed(cluster: string): void {
    const goOn = this.#waiting.get(cluster);
    if (goOn !== undefined) {
      this.#waiting.delete(cluster);
      goOn();
    } else if (this.#tasks.has(cluster)) {
      this.#missed.add(cluster);
    } else if (this.#next(cluster) !== null) {
      this.#tasks.add(cluster);
      void this.#rollOut(cluster).finally(() => {
        this.#tasks.delete(cluster);
        if (this.#missed.delete(cluster)) this.#changed(cluster);
      });
    }
  }

  async #rollOut(cluster: string): Promise<void> {
    for (let next = this.#next(cluster); next !== null; next = this.#next(cluster)) {
      if (!this.#isOpen(cluster) || !(await this.#evict(next))) {
        await this.#change(cluster);
        continue;
      }
      const { namespace, name, uid } = next;
      const isBack = (): boolean => {
        const pod = this.#pods.get(namespace, name);
        return pod !== undefined && pod.uid !== uid && pod.ready;
      };
      while (!isBack()) await this.#change(cluster);
    }
  }

  /** Resolves at the next change, or immediately if there was one since the last wait. */
  #change(cluster: string): Promise<void> {
    if (this.#missed.delete(cluster)) return Promise.resolve();
    return new Promise((resolve) => {
      this.#waiting.set(cluster, resolve);
    });
  }

  /** The stale member to evict next. */
  #next(cluster: string): PodRecord | null {
    const [namespace = '', name = ''] = cluster.split('/');
    const statefulSet = this.#statefulSets.get(namespace, name);
    if (statefulSet?.observed !== true) return null;
    const stale = this.#pods.by(byCluster, cluster).filter(({ revision }) => revision !== statefulSet.updateRevision);
    const inTurn = stale.toSorted(
      (one, other) => Number(one.role === 'primary') - Number(other.role === 'primary') || other.ordinal - one.ordinal,
    );
    return inTurn[0] ?? null;
  }

  #isOpen(cluster: string): boolean {
    const [namespace = '', name = ''] = cluster.split('/');
    const budget = this.#budgets.get(namespace, name);
    return budget !== undefined && budget.observed && budget.disruptionsAllowed > 0;
  }

  /**
   * Resolves to whether the eviction was allowed. If a closed budget refuses it, a watch event follows once the budget
   * opens.
   */
  async #evict({ namespace, name }: PodRecord): Promise<boolean> {
    const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { namespace, name } };
    try {
      await this.#client.create(pods, { namespace, name, subresource: 'eviction' }, body, {
        priority: 'disrupt',
        retries: 0,
      });
      return true;
    } catch (error) {
      if (isTooManyRequests(error) || isNotFound(error)) return false;
      this.#log.warn({ namespace, name, error: String(error) }, 'Failed to evict a pod; retrying');
      await delay(this.#world, retryMilliseconds);
      this.#missed.add(keyOf(namespace, name.slice(0, name.lastIndexOf('-'))));
      return false;
    }
  }
}
