import { type RolloutSpec, rolloutKind } from '../../src/api/rollout.ts';
import type { ContentType } from '../../src/kube/api-client.ts';
import { pods, type ResourceKind } from '../../src/kube/resource.ts';
import {
  clusterKind,
  mysqldContainer,
  revisionHashLabel,
  roleLabel,
  rolloutCompleteCondition,
  strategyLabel,
} from '../../src/moco/names.ts';
import type { AuditEvent } from '../support/control-plane/control-plane.ts';
import type { Faults } from '../support/moco/faults.ts';
import { prefixedName } from '../support/moco/names.ts';
import type { KubernetesObject, Pod } from '../support/moco/objects.ts';
import { type SampleOptions, sampleCluster } from '../support/moco/sample.ts';
import type { ContainerFault } from '../support/nodes/faults.ts';
import type { Stage } from '../support/stage/stage.ts';
import { hear } from '../verification/witness/hear.ts';
import { conditionOf, type EventObject, type History, type Moment } from './rollout-history.ts';
import { isReady } from './rollout-members.ts';
import { controllerUser, type Deed, newPodsDeeds, storyOf } from './rollout-story.ts';

const mergePatch: ContentType = 'application/merge-patch+json';
const name = 'x';

export type ClusterOptions = Partial<Omit<SampleOptions, 'name' | 'namespace'>>;

/** One MySQLCluster in a namespace of its own, what can be done to it, and what the API server says was done to it. */
export class RolloutCluster {
  readonly namespace: string;
  readonly name = name;
  readonly #stage: Stage;
  readonly #history: History;
  /** How much of the audit log was written before the part of the story that is told. */
  #from = 0;
  #fromRevision = 0;

  constructor(stage: Stage, history: History, namespace: string) {
    this.#stage = stage;
    this.#history = history;
    this.namespace = namespace;
  }

  /** Makes it, whatever becomes of it. */
  async appear(options: ClusterOptions): Promise<void> {
    const { namespace } = this;
    await this.#stage.createNamespace(namespace);
    const body = sampleCluster({ ...options, name, namespace });
    await this.#stage.client.create(clusterKind, { namespace }, body, { priority: 'disrupt' });
  }

  /** Makes it and waits until MOCO is content with it. */
  async create(options: ClusterOptions): Promise<void> {
    await this.appear(options);
    await this.until('MOCO finds the new cluster healthy', ({ cluster }) => {
      return (
        conditionOf(cluster, 'Healthy')?.status === 'True' &&
        conditionOf(cluster, 'StatefulSetReady')?.status === 'True'
      );
    });
  }

  get now(): Moment {
    return this.#history.now(this.namespace);
  }

  /** As it was just before the store's revision became this one. */
  before(revision: number): Moment {
    return this.#history.before(this.namespace, revision);
  }

  until<T>(sentence: string, condition: (moment: Moment) => T | undefined | false | null): Promise<T> {
    return this.#history.until(this.namespace, sentence, condition);
  }

  /** From here on the story is told; what was before, is not. */
  async begin(): Promise<void> {
    this.#from = (await this.#stage.controlPlane.audit()).length;
    this.#fromRevision = Math.max(0, ...this.#history.record(this.namespace).map(({ revision }) => revision));
  }

  /** Makes an object in the cluster's namespace, as a user does. */
  async make(kind: ResourceKind, body: object): Promise<KubernetesObject> {
    return this.#stage.client.create(kind, { namespace: this.namespace }, body, { priority: 'disrupt' });
  }

  async remove(kind: ResourceKind, objectName: string): Promise<void> {
    await this.#stage.client.remove(kind, { namespace: this.namespace, name: objectName }, {}, { priority: 'disrupt' });
  }

  /** A merge patch of the MySQLCluster, as a user makes it. */
  async patch(body: object): Promise<void> {
    await this.#patch(clusterKind, this.name, body);
  }

  /** A new image for mysqld: a new update revision. */
  async setImage(image: string): Promise<void> {
    await this.patch({ spec: { podTemplate: { spec: { containers: [{ name: mysqldContainer, image }] } } } });
  }

  /** What the user settings of the rollout; `null` takes a setting back. */
  async setting(spec: { readonly [K in keyof RolloutSpec]: RolloutSpec[K] | null }): Promise<void> {
    await this.#patch(rolloutKind, this.name, { spec });
  }

  /** An annotation of the MySQLCluster; `null` takes it away. */
  async annotate(annotation: string, value: string | null): Promise<void> {
    await this.patch({ metadata: { annotations: { [annotation]: value } } });
  }

  /** The pod has been ready for so long, as far as the API can tell: what a process that starts later goes by. */
  async backdateReady(ordinal: number, seconds: number): Promise<void> {
    const lastTransitionTime = new Date(Date.now() - seconds * 1000).toISOString().replace(/\.\d+/, '');
    const place = { namespace: this.namespace, name: this.podName(ordinal), subresource: 'status' };
    const body = { status: { conditions: [{ type: 'Ready', lastTransitionTime }] } };
    await this.#stage.client.patch(pods, place, 'application/strategic-merge-patch+json', body, {
      priority: 'disrupt',
    });
  }

  kubectl(...flags: readonly string[]): Promise<string> {
    return this.#stage.controlPlane.kubectl('-n', this.namespace, ...flags);
  }

  /** As a drain does. */
  async evict(ordinal: number): Promise<void> {
    const place = { namespace: this.namespace, name: this.podName(ordinal), subresource: 'eviction' };
    const body = {
      apiVersion: 'policy/v1',
      kind: 'Eviction',
      metadata: { namespace: this.namespace, name: place.name },
    };
    await this.#stage.client.create(pods, place, body, { priority: 'disrupt' });
  }

  podName(ordinal: number): string {
    return `${prefixedName(this.name)}-${ordinal}`;
  }

  /** Faults of MOCO and MySQL. */
  moco(faults: Partial<Faults>): void {
    this.#stage.moco.setFaults(this.namespace, this.name, faults);
  }

  /** A fault of one container of the pod that has this ordinal now; it goes with the pod. */
  breakContainer(ordinal: number, container: string, fault: ContainerFault): void {
    this.#stage.nodes.containerFault(this.namespace, this.podName(ordinal), container, fault);
  }

  /** No node takes the pod of this ordinal that comes next. */
  neverSchedule(ordinal: number): void {
    this.#stage.nodes.neverSchedule(this.namespace, this.podName(ordinal));
  }

  heal(ordinal: number): void {
    this.#stage.nodes.heal(this.namespace, this.podName(ordinal));
  }

  slowNodes(settings: Parameters<Stage['nodes']['configure']>[1]): void {
    this.#stage.nodes.configure(this.namespace, settings);
  }

  /** The StatefulSet is OnDelete and nothing is to be done. */
  async isTaken(): Promise<void> {
    await this.until('the StatefulSet is set to OnDelete and settles', ({ statefulSet, cluster, rollout }) => {
      const strategy = (statefulSet as { spec?: { updateStrategy?: { type?: string } } } | null)?.spec?.updateStrategy;
      const { phase, strategy: reported } = rollout?.status ?? {};
      return strategy?.type === 'OnDelete' && reported === 'OnDelete' && isComplete(cluster) && phase === 'UpToDate';
    });
  }

  /** Its partitions are lowered, by MOCO or by the controller, and nothing is to be done. */
  async isByPartitions(): Promise<void> {
    await this.until('the StatefulSet updates by partitions and settles', ({ statefulSet, cluster, rollout }) => {
      const { metadata, spec } = statefulSet ?? {};
      return (
        spec?.updateStrategy?.type === 'RollingUpdate' &&
        metadata?.labels?.[strategyLabel] === undefined &&
        isComplete(cluster) &&
        rollout?.status?.strategy !== 'OnDelete' &&
        rollout?.status?.phase === 'UpToDate'
      );
    });
  }

  /** How many members were in place, neither missing nor on their way out, at the worst moment since `begin`. */
  fewestInPlace(): number {
    return Math.min(
      ...this.#history
        .record(this.namespace)
        .filter(({ revision }) => revision >= this.#fromRevision)
        .map(({ revision }) => this.before(revision).pods.filter(isInPlace).length),
    );
  }

  /** Every version of the cluster's objects of a kind, with the API server's revision, in order. */
  versions(kind: ResourceKind): readonly (readonly [revision: number, object: KubernetesObject])[] {
    return this.#history.versions(this.namespace, kind);
  }

  /** MOCO has applied the newest spec, every pod is of the newest revision, and the controller says that it is done. */
  async completes(): Promise<void> {
    await this.until('the rollout completes', (moment) => {
      const { cluster, pods: members } = moment;
      return (
        isComplete(cluster) &&
        conditionOf(cluster, 'StatefulSetReady')?.status === 'True' &&
        isUpdated(moment) &&
        members.length === cluster?.spec.replicas &&
        members.every(isReady)
      );
    });
  }

  async holds(rule: string): Promise<void> {
    await this.until(`the rollout is held by ${rule}`, ({ rollout }) => rollout?.status?.hold?.rule === rule);
  }

  /** The pod that a member has now. */
  podNow(ordinal: number): Pod {
    const name = this.podName(ordinal);
    const found = this.now.pods.find(({ metadata }) => metadata.name === name);
    if (found === undefined) throw new Error(`expected the pod ${name}, got none`);
    return found;
  }

  async pod(ordinal: number, sentence: string, condition: (pod: Pod) => boolean): Promise<Pod> {
    return this.until(`pod ${ordinal} ${sentence}`, (moment) =>
      moment.pods.find((pod) => pod.metadata.name === this.podName(ordinal) && condition(pod)),
    );
  }

  async event(reason: string): Promise<EventObject> {
    return this.until(`an Event ${reason} is recorded`, ({ events }) =>
      events.find((event) => event.reason === reason && event.regarding.kind === clusterKind.kind),
    );
  }

  /** Everything that was done since `begin`. */
  async story(): Promise<readonly Deed[]> {
    const deeds = storyOf(await this.#stage.controlPlane.audit(), this.namespace);
    const first = (await this.#reported())[0]?.requestReceivedTimestamp ?? '';
    return deeds.filter(({ at }) => at >= first);
  }

  /**
   * What the controller did since `begin`, but for what new pods come up at; what the API server refused has not been done. A revision that is promoted
   * again right away counts once: kube-controller-manager may have been in the middle of writing the status that it had
   * made of the one before.
   */
  async steps(): Promise<readonly string[]> {
    const steps = (await this.story()).filter(({ by, code }) => by === 'controller' && code < 300);
    return steps
      .map(({ text }) => text)
      .filter((text) => !Object.values(newPodsDeeds).includes(text))
      .filter((text, index, all) => text !== 'promoteRevision' || all[index - 1] !== text);
  }

  /** How MOCO moved the primary since `begin`. */
  async moves(): Promise<readonly string[]> {
    return (await this.story()).filter(({ by }) => by === 'moco').map(({ text }) => text);
  }

  /** Every request of the controller about this namespace since `begin`. */
  async requests(): Promise<readonly AuditEvent[]> {
    return (await this.#reported()).filter(({ user }) => user.username === controllerUser);
  }

  /** Writes since `begin` about which the API server asked a webhook whose name ends so, as `verb resource`. */
  async askedOf(webhook: string): Promise<readonly string[]> {
    const isAsked = ({ annotations = {} }: AuditEvent): boolean =>
      Object.entries(annotations).some(
        ([key, value]) =>
          key.includes('webhook.admission.k8s.io') &&
          (JSON.parse(value) as { webhook?: string }).webhook?.endsWith(webhook) === true,
      );
    return (await this.#reported()).filter(isAsked).map(({ verb, objectRef }) => `${verb} ${objectRef?.resource}`);
  }

  /** What the witness finds in everything that was done, a sentence each, in order. */
  async violations(): Promise<readonly string[]> {
    const audit = (await this.#stage.controlPlane.audit()).filter(
      ({ objectRef }) => objectRef?.namespace === this.namespace,
    );
    const { findings } = hear(this.#history.witnessed(this.namespace), audit, controllerUser, { minReadySeconds: 0 });
    return findings
      .filter(({ kind }) => kind === 'violation')
      .toSorted((one, other) => one.atMilliseconds - other.atMilliseconds)
      .map(({ law, text }) => `${law}: ${text}`);
  }

  /** All there is to know where a test has failed. */
  async report(): Promise<string> {
    const key = `"${this.namespace}/${this.name}"`;
    const log = this.#stage.controllers.flatMap((controller) => controller.log.split('\n'));
    const { rollout, cluster, pods: members } = this.now;
    return [
      `story of ${this.namespace}:`,
      ...(await this.story()).map(({ at, by, text }) => `  ${at.slice(11, 23)} ${by.padEnd(10)} ${text}`),
      'members:',
      ...members.map((pod) => `  ${lineOf(pod)}`),
      `status of the MySQLCluster: ${JSON.stringify(cluster?.status)}`,
      `status of the MySQLRollout: ${JSON.stringify(rollout?.status)}`,
      'log of the controller:',
      ...log.filter((line) => line.includes(key)).map((line) => `  ${line}`),
    ].join('\n');
  }

  async #reported(): Promise<readonly AuditEvent[]> {
    const audit = await this.#stage.controlPlane.audit();
    return audit.slice(this.#from).filter(({ objectRef }) => objectRef?.namespace === this.namespace);
  }

  /** Resolves once the history shows it, so that nothing is asked of the objects as they were before. */
  async #patch(kind: ResourceKind, objectName: string, body: object): Promise<void> {
    const place = { namespace: this.namespace, name: objectName };
    const patched = await this.#stage.client.patch<KubernetesObject>(kind, place, mergePatch, body, {
      priority: 'disrupt',
    });
    const { uid, resourceVersion } = patched.metadata;
    await this.until(`the change of ${objectName} is seen`, () =>
      this.#history.shows(this.namespace, uid, Number(resourceVersion)),
    );
  }
}

const isInPlace = ({ metadata }: Pod): boolean => metadata.deletionTimestamp === undefined;

function lineOf({ metadata, status }: Pod): string {
  const { name: podName, labels, annotations, deletionTimestamp } = metadata;
  const containers = status?.containerStatuses?.map(
    ({ name: container, ready, restartCount, state }) =>
      `${container} ${ready ? 'ready' : 'not ready'} ${restartCount} ${Object.keys(state ?? {}).join()}`,
  );
  return [
    podName,
    labels?.[revisionHashLabel],
    labels?.[roleLabel],
    status?.phase,
    deletionTimestamp === undefined ? '' : 'terminating',
    containers?.join(', '),
    JSON.stringify(annotations ?? {}),
  ].join(' ');
}

function isComplete(cluster: Moment['cluster']): boolean {
  const complete = conditionOf(cluster, rolloutCompleteCondition);
  return complete?.status === 'True' && complete.observedGeneration === cluster?.metadata.generation;
}

/** Every pod is made from the StatefulSet's newest template. */
function isUpdated({ statefulSet, pods: members }: Moment): boolean {
  return members.every(({ metadata }) => metadata.labels?.[revisionHashLabel] === statefulSet?.status?.updateRevision);
}
