import { setTimeout as pause } from 'node:timers/promises';
import { rolloutKind } from '../../../src/api/rollout.ts';
import { ApiError, isTooManyRequests } from '../../../src/kube/api-error.ts';
import { apiVersion, namespaces, pods, type ResourceKind } from '../../../src/kube/resource.ts';
import {
  clusterKind,
  demotedForAnnotation,
  mysqldContainer,
  revisionHashLabel,
  rolloutCompleteCondition,
  strategyLabel,
} from '../../../src/moco/names.ts';
import { prefixedName } from '../../support/moco/names.ts';
import { sampleCluster } from '../../support/moco/sample.ts';
import type { Stage } from '../../support/stage/stage.ts';
import type { WitnessedCluster, WitnessedObject, WitnessedPod, WitnessedStatefulSet } from '../witness/objects.ts';
import type { ClusterPlan, Loss, Strategy, Task } from './plan.ts';
import type { Present, StoreRecord } from './record.ts';

export const clusterName = 'x';
const firstImage = 'mysql:8.4.8';
const drainRetryMilliseconds = 1000;

/** An expected state was not reached in time. */
export class LostRollout extends Error {
  override readonly name = 'LostRollout';
}

export interface Circumstances {
  readonly stage: Stage;
  readonly record: StoreRecord;
  /** Delays the next step. */
  readonly patienceMilliseconds: number;
  /** Then the strategy in force is unknown. */
  readonly flipsGate: boolean;
  /** Does something while nothing befalls any process, and each of them has had the time to lead. */
  readonly calmly: (act: () => Promise<void>) => Promise<void>;
  /** Nobody waits for anything any more. */
  readonly over: Promise<unknown>;
}

/** One MySQLCluster in a namespace of its own, and what its user does. */
export class ClusterUnderChaos {
  readonly namespace: string;
  readonly #replicas: number;
  readonly #stage: Stage;
  readonly #record: StoreRecord;
  readonly #patienceMilliseconds: number;
  readonly #flipsGate: boolean;
  readonly #over: Promise<unknown>;
  readonly #calmly: Circumstances['calmly'];
  #strategy: Strategy;

  constructor({ name, replicas, strategy }: ClusterPlan, circumstances: Circumstances) {
    this.namespace = name;
    this.#replicas = replicas;
    this.#strategy = strategy;
    this.#stage = circumstances.stage;
    this.#record = circumstances.record;
    this.#patienceMilliseconds = circumstances.patienceMilliseconds;
    this.#flipsGate = circumstances.flipsGate;
    this.#over = circumstances.over;
    this.#calmly = circumstances.calmly;
  }

  /** Resolves once the controller has adopted it and finds nothing due. */
  async create(): Promise<void> {
    const { namespace } = this;
    await this.#stage.createNamespace(namespace);
    await this.#stage.client.create(
      rolloutKind,
      { namespace },
      {
        apiVersion: apiVersion(rolloutKind),
        kind: rolloutKind.kind,
        metadata: { name: clusterName, namespace },
        spec: { strategy: this.#strategy },
      },
      { priority: 'disrupt' },
    );
    const body = sampleCluster({ name: clusterName, namespace, replicas: this.#replicas, image: firstImage });
    await this.#stage.client.create(clusterKind, { namespace }, body, { priority: 'disrupt' });
    await this.#until('the new cluster is taken', (present) => this.#isAtRest(present, firstImage));
  }

  /** Resolves once every member runs the newest revision, and the controller reports that. */
  async carryOut(task: Task): Promise<void> {
    switch (task.kind) {
      case 'image':
        await this.#setImage(task.image);
        break;
      case 'imageWithDead':
        this.#stage.nodes.containerFault(this.namespace, podName(task.ordinal), mysqldContainer, 'dead');
        await this.#until(`mysqld of ${task.ordinal} is dead`, (present) =>
          podsOf(present).some((pod) => pod.metadata.name === podName(task.ordinal) && !isReady(pod)),
        );
        await this.#setImage(task.image);
        break;
      case 'badImage':
        await this.#changeInTheMiddle(task.bad);
        await this.#setImage(task.image);
        break;
      case 'changeOfMind':
        await this.#changeInTheMiddle(task.first);
        await this.#setImage(task.image);
        break;
      case 'lost':
        await this.#patch(rolloutKind, { paused: true });
        await this.#setImage(task.image);
        await this.#until('the new revision is known', (present) => !isUpToDate(present));
        await this.#calmly(() => this.#lose(task.ordinal, task.how));
        await this.#patch(rolloutKind, { paused: null });
        break;
      case 'flip':
        await this.#changeInTheMiddle(task.image);
        await this.#setStrategy(task.to);
    }
    await this.#until(`the rollout of ${task.image} ends`, (present) => this.#isAtRest(present, task.image));
  }

  async remove(): Promise<void> {
    await this.#stage.client.remove(namespaces, { name: this.namespace }, {}, { priority: 'disrupt' });
  }

  async #changeInTheMiddle(image: string): Promise<void> {
    await this.#setImage(image);
    await this.#until(`a member is given ${image}`, (present) => podsOf(present).some((pod) => imageOf(pod) === image));
  }

  /** Resolves once another pod of the member is ready. */
  async #lose(ordinal: number, how: Loss): Promise<void> {
    const { client } = this.#stage;
    const place = { namespace: this.namespace, name: podName(ordinal) };
    const { uid } = (await client.get<WitnessedPod>(pods, place, { priority: 'read' })).metadata;
    const options = { priority: 'disrupt' } as const;
    if (how === 'evict') await this.#evict(place);
    else await client.remove(pods, place, how === 'force' ? { gracePeriodSeconds: 0 } : {}, options);
    await this.#until(`${podName(ordinal)} is there again`, (present) =>
      podsOf(present).some((pod) => pod.metadata.name === podName(ordinal) && pod.metadata.uid !== uid && isReady(pod)),
    );
  }

  /** As a drain does: again and again, until the budget allows it. */
  async #evict(place: { readonly namespace: string; readonly name: string }): Promise<void> {
    const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: place };
    const target = { ...place, subresource: 'eviction' };
    for (;;) {
      try {
        await this.#stage.client.create(pods, target, body, { priority: 'disrupt', retries: 0 });
        return;
      } catch (error) {
        if (!(error instanceof ApiError) || !isTooManyRequests(error)) throw error;
        await pause(drainRetryMilliseconds);
      }
    }
  }

  async #setImage(image: string): Promise<void> {
    await this.#patch(clusterKind, { podTemplate: { spec: { containers: [{ name: mysqldContainer, image }] } } });
  }

  async #setStrategy(strategy: Strategy): Promise<void> {
    this.#strategy = strategy;
    await this.#patch(rolloutKind, { strategy });
  }

  async #patch(kind: ResourceKind, spec: object): Promise<void> {
    const place = { namespace: this.namespace, name: clusterName };
    const options = { priority: 'disrupt' } as const;
    await this.#stage.client.patch(kind, place, 'application/merge-patch+json', { spec }, options);
  }

  async #until(sentence: string, condition: (present: Present) => boolean): Promise<void> {
    const came = this.#record.until(this.namespace, condition, this.#patienceMilliseconds);
    if (await Promise.race([came, this.#over.then(() => false)])) return;
    throw new LostRollout(`expected that ${sentence} within ${this.#patienceMilliseconds / 1000} s, it did not come`);
  }

  #isAtRest(present: Present, image: string): boolean {
    const cluster = present.get(`${clusterKind.kind}/${clusterName}`) as WitnessedCluster | undefined;
    const set = present.get(`StatefulSet/${prefixedName(clusterName)}`) as WitnessedStatefulSet | undefined;
    const members = podsOf(present);
    return (
      isTrue(cluster, rolloutCompleteCondition, cluster?.metadata.generation) &&
      isTrue(cluster, 'StatefulSetReady') &&
      set !== undefined &&
      (this.#flipsGate || isBy(this.#strategy, set)) &&
      members.length === this.#replicas &&
      members.every(
        (pod) =>
          isReady(pod) &&
          pod.metadata.deletionTimestamp === undefined &&
          pod.metadata.annotations?.[demotedForAnnotation] === undefined &&
          imageOf(pod) === image &&
          pod.metadata.labels?.[revisionHashLabel] === set.status?.updateRevision,
      )
    );
  }
}

/** No member is at another revision than the update revision. */
function isUpToDate(present: Present): boolean {
  const set = present.get(`StatefulSet/${prefixedName(clusterName)}`) as WitnessedStatefulSet | undefined;
  return podsOf(present).every(({ metadata }) => metadata.labels?.[revisionHashLabel] === set?.status?.updateRevision);
}

/** By partitions nothing of ours is left on it. */
function isBy(strategy: Strategy, { metadata, spec }: WitnessedStatefulSet): boolean {
  if (strategy === 'OnDelete') return spec.updateStrategy?.type === 'OnDelete';
  return spec.updateStrategy?.type === 'RollingUpdate' && metadata.labels?.[strategyLabel] === undefined;
}

function podName(ordinal: number): string {
  return `${prefixedName(clusterName)}-${ordinal}`;
}

function podsOf(present: Present): readonly WitnessedPod[] {
  return [...present].filter(([key]) => key.startsWith(`${pods.kind}/`)).map(([, object]) => object as WitnessedPod);
}

function isReady({ status }: WitnessedPod): boolean {
  return status?.conditions?.some(({ type, status: state }) => type === 'Ready' && state === 'True') ?? false;
}

function imageOf({ spec }: WitnessedPod): string | undefined {
  return spec.containers.find(({ name }) => name === mysqldContainer)?.image;
}

function isTrue(cluster: WitnessedCluster | undefined, type: string, generation?: number): boolean {
  const condition = cluster?.status?.conditions?.find((one) => one.type === type);
  return condition?.status === 'True' && (generation === undefined || condition.observedGeneration === generation);
}

/** The state of a cluster whose rollout did not complete. */
export function describe(present: Present): readonly string[] {
  const status = (key: string): unknown => {
    const object: (WitnessedObject & { readonly status?: unknown }) | undefined = present.get(key);
    return object?.status;
  };
  return [
    ...podsOf(present).map(
      (pod) =>
        `${pod.metadata.name} ${pod.metadata.labels?.[revisionHashLabel]} ${imageOf(pod)} ${isReady(pod) ? 'ready' : 'not ready'} ${JSON.stringify(pod.metadata.annotations ?? {})}`,
    ),
    `MySQLCluster ${JSON.stringify(status(`${clusterKind.kind}/${clusterName}`))}`,
    `MySQLRollout ${JSON.stringify(status(`MySQLRollout/${clusterName}`))}`,
  ];
}
