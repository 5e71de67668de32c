import { rolloutKind } from '../../../src/api/rollout.ts';
import { statefulSets } from '../../../src/kube/resource.ts';
import { clusterKind, mysqldContainer } from '../../../src/moco/names.ts';
import { statefulSetName } from '../../../src/moco/projections.ts';
import { beginBackup } from '../../../test/support/moco/backup-job.ts';
import { sampleCluster } from '../../../test/support/moco/sample.ts';
import { roughly } from '../program/durations.ts';
import { type BenchStage, nodesSettings } from './bench-stage.ts';
import type { LiveCluster, LiveClusters } from './live-cluster.ts';
import { type Interval, oldImage } from './scenario.ts';
import { isBack, isSettled, type Sight } from './sight.ts';
import type { Way } from './way.ts';

export const clusterName = 'test';

export interface BenchClusterOptions {
  readonly namespace: string;
  readonly members: number;
  readonly way: Way;
  readonly minReadySeconds: number;
  /** Of the MySQLCluster, beside what every one has. */
  readonly spec: Readonly<Record<string, unknown>>;
}

const mergePatch = 'application/merge-patch+json';
const priority = 'disrupt' as const;
/** However slow the machine, beyond this something is wrong. */
const patienceMilliseconds = 240_000;

/** One cluster in a namespace of its own, seen through watches that all of them share, and what can be done to it. */
export class BenchCluster {
  readonly namespace: string;
  readonly members: number;
  readonly #demo: BenchStage;
  readonly #live: LiveCluster;
  readonly #isOurs: boolean;

  private constructor(demo: BenchStage, live: LiveCluster, { namespace, members, way }: BenchClusterOptions) {
    this.#demo = demo;
    this.#live = live;
    this.namespace = namespace;
    this.members = members;
    this.#isOurs = way.settings !== undefined;
  }

  /** Resolves once there is nothing to do about it. */
  static async create(demo: BenchStage, clusters: LiveClusters, options: BenchClusterOptions): Promise<BenchCluster> {
    const { namespace, members, way, minReadySeconds, spec } = options;
    const { client } = demo.stage;
    await demo.stage.createNamespace(namespace);
    const cluster = new BenchCluster(demo, clusters.follow(namespace, clusterName), options);
    try {
      if (way.settings !== undefined) {
        const { group, version, kind } = rolloutKind;
        const metadata = { namespace, name: clusterName };
        const settings = { ...way.settings, minReadySeconds };
        const rollout = { apiVersion: `${group}/${version}`, kind, metadata, spec: settings };
        await client.create(rolloutKind, { namespace }, rollout, { priority });
      }
      const { annotations = {}, nativeMaxUnavailable } = way;
      const image = oldImage;
      const body = sampleCluster({ name: clusterName, namespace, replicas: members, image, annotations, spec });
      await client.create(clusterKind, { namespace }, body, { priority });
      await cluster.untilAtRest();
      if (nativeMaxUnavailable !== undefined) await cluster.#setNativeMaxUnavailable(nativeMaxUnavailable);
      return cluster;
    } catch (error) {
      cluster.stop();
      throw error;
    }
  }

  get sight(): Sight {
    const { sight } = this.#live;
    if (sight === null) throw new Error(`Expected ${this.namespace} to have been seen, it has not`);
    return sight;
  }

  /** Returns a function that ends it. */
  onSight(listener: (sight: Sight) => void): () => void {
    return this.#live.onSight(listener);
  }

  stop(): void {
    this.#live.stop();
  }

  /** Resolves as soon as the condition holds; rejects with a message after a generous limit. */
  until(what: string, condition: (sight: Sight) => boolean): Promise<void> {
    const sentence = `Expected ${what} within ${roughly(patienceMilliseconds)} in ${this.namespace}, it is not`;
    const overdue = (sight: Sight | null): string =>
      `${sentence}: ${sight === null ? 'nothing was seen of it' : inWords(sight)}`;
    return this.#live.until(condition, patienceMilliseconds, overdue, this.#demo.race);
  }

  /** Resolves once this program reports nothing to do, or without this program, once every member serves. */
  untilAtRest(): Promise<void> {
    return this.until('the cluster to be at rest', this.#isOurs ? isAtRest : isServing);
  }

  /** Lets time pass. */
  async pass(milliseconds: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const cancel = this.#demo.stage.world.timer(milliseconds, resolve);
    await this.#demo.race(promise).finally(cancel);
  }

  /** Sets how long a member's restart takes from now on. */
  restartsTake(milliseconds: number): void {
    this.#demo.stage.nodes.configure(this.namespace, nodesSettings(milliseconds));
  }

  /** Sets the delay between attempts to pull a missing image from now on. */
  imagePullsTake(milliseconds: number): void {
    this.#demo.stage.nodes.configure(this.namespace, { imagePullMilliseconds: milliseconds });
  }

  /** The container ends and does not restart in this pod. */
  breakContainer(ordinal: number, container: string): void {
    const pod = `${statefulSetName(clusterName)}-${ordinal}`;
    this.#demo.stage.nodes.containerFault(this.namespace, pod, container, 'dead');
  }

  /** A new image for mysqld: a new update revision. */
  async setImage(image: string): Promise<void> {
    const place = { namespace: this.namespace, name: clusterName };
    const body = { spec: { podTemplate: { spec: { containers: [{ name: mysqldContainer, image }] } } } };
    await this.#demo.stage.client.patch(clusterKind, place, mergePatch, body, { priority });
  }

  /** Runs a scheduled backup for so long, once Kubernetes shows it. */
  async backUp(milliseconds: number): Promise<Interval> {
    const { client, world } = this.#demo.stage;
    const end = await beginBackup(client, this.namespace, clusterName);
    const from = world.monotonic();
    await this.pass(milliseconds);
    await end();
    return { from, to: world.monotonic() };
  }

  async #setNativeMaxUnavailable(maxUnavailable: number): Promise<void> {
    const place = { namespace: this.namespace, name: statefulSetName(clusterName) };
    const body = { spec: { updateStrategy: { rollingUpdate: { maxUnavailable } } } };
    const { client } = this.#demo.stage;
    const changed = await client.patch<StatefulSetStrategy>(statefulSets, place, mergePatch, body, { priority });
    const inForce = changed.spec.updateStrategy.rollingUpdate?.maxUnavailable;
    if (inForce !== maxUnavailable) {
      throw new Error(
        `Expected the API server to keep maxUnavailable ${maxUnavailable} of a StatefulSet, got ${inForce}`,
      );
    }
  }
}

interface StatefulSetStrategy {
  readonly spec: { readonly updateStrategy: { readonly rollingUpdate?: { readonly maxUnavailable?: number } } };
}

/** Complete and promoted, with a MySQLRollout that only reports Kubernetes' own rolling update. */
function isAtRest({ complete, status, updateRevision }: Sight): boolean {
  const rests = status?.phase === 'UpToDate' || status?.hold?.rule === 'ForcedRollingUpdate';
  return complete && rests && status.updateRevision === updateRevision;
}

function isServing(sight: Sight): boolean {
  return sight.updateRevision !== '' && isSettled(sight) && sight.members.every(isBack);
}

/** A description of what a cluster waits for. */
export function inWords({ members, status, healthy, updateRevision }: Sight): string {
  const updated = members.filter(({ revision }) => revision === updateRevision).length;
  const others = members.filter(({ state }) => state !== 'participating').map(({ name, state }) => `${name} ${state}`);
  const hold = status?.hold === undefined ? [] : [`held by ${status.hold.rule}`];
  return [
    `${updated} of ${members.length} updated`,
    healthy ? 'Healthy' : 'not Healthy',
    ...(others.length === 0 ? ['all participating'] : others),
    ...hold,
  ].join(', ');
}
