import { namespaces, pods } from '../../src/kube/resource.ts';
import {
  clusterKind,
  demotedForAnnotation,
  mysqldContainer,
  revisionHashLabel,
  rolloutCompleteCondition,
} from '../../src/moco/names.ts';
import type {
  WitnessedCluster,
  WitnessedObject,
  WitnessedPod,
  WitnessedStatefulSet,
} from '../../test/witness/objects.ts';
import { prefixedName } from '../moco/names.ts';
import { sampleCluster } from '../moco/sample.ts';
import type { Stage } from '../stage/stage.ts';
import type { ClusterPlan, Task } from './plan.ts';
import type { Present, StoreRecord } from './record.ts';

export const clusterName = 'x';
const firstImage = 'mysql:8.4.8';

/** Something that should have come has not. */
export class LostRollout extends Error {
  override readonly name = 'LostRollout';
}

/** One MySQLCluster in a namespace of its own, and what its user does. */
export class ClusterUnderChaos {
  readonly namespace: string;
  readonly #replicas: number;
  readonly #stage: Stage;
  readonly #record: StoreRecord;
  readonly #patienceMilliseconds: number;

  constructor(stage: Stage, record: StoreRecord, { name, replicas }: ClusterPlan, patienceMilliseconds: number) {
    this.namespace = name;
    this.#replicas = replicas;
    this.#stage = stage;
    this.#record = record;
    this.#patienceMilliseconds = patienceMilliseconds;
  }

  /** Resolves once the controller has taken it and finds nothing to do. */
  async create(): Promise<void> {
    const { namespace } = this;
    await this.#stage.createNamespace(namespace);
    const body = sampleCluster({ name: clusterName, namespace, replicas: this.#replicas, image: firstImage });
    await this.#stage.client.create(clusterKind, { namespace }, body, { lane: 'disrupt' });
    await this.#until('the new cluster is taken', (present) => this.#isAtRest(present, firstImage));
  }

  /** Resolves once every member runs what was asked for last, and the controller says so. */
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
    }
    await this.#until(`the rollout of ${task.image} ends`, (present) => this.#isAtRest(present, task.image));
  }

  async remove(): Promise<void> {
    await this.#stage.client.remove(namespaces, { name: this.namespace }, {}, { lane: 'disrupt' });
  }

  async #changeInTheMiddle(image: string): Promise<void> {
    await this.#setImage(image);
    await this.#until(`a member is given ${image}`, (present) => podsOf(present).some((pod) => imageOf(pod) === image));
  }

  async #setImage(image: string): Promise<void> {
    const body = { spec: { podTemplate: { spec: { containers: [{ name: mysqldContainer, image }] } } } };
    const place = { namespace: this.namespace, name: clusterName };
    const options = { lane: 'disrupt' } as const;
    await this.#stage.client.patch(clusterKind, place, 'application/merge-patch+json', body, options);
  }

  async #until(sentence: string, condition: (present: Present) => boolean): Promise<void> {
    if (await this.#record.until(this.namespace, condition, this.#patienceMilliseconds)) return;
    throw new LostRollout(`expected that ${sentence} within ${this.#patienceMilliseconds / 1000} s, it did not come`);
  }

  #isAtRest(present: Present, image: string): boolean {
    const cluster = present.get(`${clusterKind.kind}/${clusterName}`) as WitnessedCluster | undefined;
    const set = present.get(`StatefulSet/${prefixedName(clusterName)}`) as WitnessedStatefulSet | undefined;
    const members = podsOf(present);
    return (
      isTrue(cluster, rolloutCompleteCondition, cluster?.metadata.generation) &&
      isTrue(cluster, 'StatefulSetReady') &&
      set?.spec.updateStrategy?.type === 'OnDelete' &&
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

/** What a cluster looks like where it has come to nothing. */
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
