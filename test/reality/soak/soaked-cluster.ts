import { setTimeout as delay } from 'node:timers/promises';
import { ApiError } from '../../../src/kube/api-error.ts';
import type { ClusterLoad } from '../load/cluster-load.ts';
import { now } from '../load/write-load.ts';
import { repairErrant } from '../scenarios/errant.ts';
import { complaintsOfRows, gapsSince } from '../scenarios/expectations.ts';
import { findingsOf } from '../scenarios/play.ts';
import { isAtRest, RealityCluster, type Surroundings } from '../scenarios/reality-cluster.ts';
import { RunDirectory } from '../scenarios/run-directory.ts';
import { onDelete } from '../scenarios/way.ts';
import type { Container } from './victim.ts';

const writers = 2;
const retryMilliseconds = 1000;
const mostTries = 60;

/** One rollout while processes were killed. */
export interface SoakedRollout {
  readonly namespace: string;
  readonly number: number;
  readonly seconds: number;
  /** Of either kind of writers. */
  readonly longestGapMilliseconds: number;
  readonly acknowledged: number;
  readonly complaints: readonly string[];
}

/** A cluster of three under load that is rolled out again and again. */
export class SoakedCluster {
  readonly #cluster: RealityCluster;
  readonly #load: ClusterLoad;
  readonly #run: RunDirectory;
  #rollouts = 0;
  #repairs = 0;

  private constructor(cluster: RealityCluster, load: ClusterLoad, run: RunDirectory) {
    this.#cluster = cluster;
    this.#load = load;
    this.#run = run;
  }

  /** What is seen of it goes into the directory. */
  static async create(surroundings: Surroundings, namespace: string, directory: string): Promise<SoakedCluster> {
    const cluster = await RealityCluster.create(surroundings, { namespace, members: 3, way: onDelete, spec: {} });
    const load = await cluster.startLoad(writers);
    await cluster.untilAtRest();
    return new SoakedCluster(cluster, load, await RunDirectory.open(directory, cluster.bed));
  }

  /** How often a member had transactions that no other has, and lost its volume for it, as MOCO's documents say. */
  get repairs(): number {
    return this.#repairs;
  }

  /** What runs in its pods. */
  get containers(): readonly Omit<Container, 'kind'>[] {
    return this.#cluster.pods.flatMap(({ metadata: { namespace, name: pod }, status }) =>
      (status?.containerStatuses ?? [])
        .filter(({ state }) => state?.running !== undefined)
        .map(({ name: container }) => ({ namespace, pod, container })),
    );
  }

  /** Rolls out a new revision, and compares every row that was acknowledged up to its end. */
  async rollOut(): Promise<SoakedRollout> {
    const cluster = this.#cluster;
    this.#rollouts += 1;
    const from = now();
    cluster.note(`begins rollout ${this.#rollouts}`);
    const before = cluster.sight.updateRevision;
    const annotations = { 'example.com/rollout': String(this.#rollouts) };
    await persistently(() => cluster.patchSpec({ podTemplate: { metadata: { annotations } } }));
    // As a person would: MOCO repairs no member that has transactions of its own.
    this.#repairs += await repairErrant(cluster, (sight) => sight.updateRevision !== before && isAtRest(sight));
    const seconds = (now() - from) / 1000;
    const rows = await this.#load.compare();
    const { acknowledged, gaps } = await this.#load.written();
    const own = Object.values(gapsSince(gaps, from)).flat();
    return {
      namespace: cluster.namespace,
      number: this.#rollouts,
      seconds,
      longestGapMilliseconds: Math.max(0, ...own.map(({ milliseconds }) => milliseconds)),
      acknowledged,
      complaints: complaintsOfRows({ rows }),
    };
  }

  /** What the witness has found in all of its rollouts. */
  async end(): Promise<readonly string[]> {
    const { gaps } = await this.#load.written();
    this.#load.kill();
    await this.#run.close(this.#cluster, gaps);
    this.#cluster.stop();
    return findingsOf(this.#cluster);
  }
}

/** The API server refuses to write a MySQLCluster while moco-controller, whose webhook it asks, is being started again. */
async function persistently(write: () => Promise<void>): Promise<void> {
  for (let left = mostTries; ; left -= 1) {
    try {
      return await write();
    } catch (error) {
      if (!(error instanceof ApiError) || error.status < 500 || left === 0) throw error;
      await delay(retryMilliseconds);
    }
  }
}
