import type { CallOptions } from '../../../../src/kube/api-client.ts';
import { ApiError } from '../../../../src/kube/api-error.ts';
import { podDisruptionBudgets, pods, statefulSets } from '../../../../src/kube/resource.ts';
import { revisionHashLabel } from '../../../../src/moco/names.ts';
import type { Json } from '../../../support/api-server/stored-object.ts';
import type { Ground } from './ground.ts';
import { setName } from './observed.ts';

const options: CallOptions = { priority: 'disrupt', retries: 0 };
const mergePatch = 'application/merge-patch+json';
const labels = { app: setName };
const podName = (ordinal: number): string => `${setName}-${ordinal}`;

interface Incarnation {
  readonly metadata: { readonly uid: string; readonly resourceVersion: string };
}

/** Somebody who does things to a StatefulSet and plays its kubelets. Each deed gives the server's answer. */
export class Player {
  readonly #ground: Ground;

  constructor(ground: Ground) {
    this.#ground = ground;
  }

  create(strategy: Json, image: string, replicas = 3): Promise<string> {
    const { client, namespace } = this.#ground;
    const spec = {
      replicas,
      serviceName: setName,
      podManagementPolicy: 'Parallel',
      selector: { matchLabels: labels },
      updateStrategy: strategy,
      template: templateOf(image),
    };
    const body = { apiVersion: 'apps/v1', kind: 'StatefulSet', metadata: { name: setName }, spec };
    return answerTo(client.create(statefulSets, { namespace }, body, options));
  }

  createBudget(maxUnavailable = 1): Promise<string> {
    const { client, namespace } = this.#ground;
    const spec = { maxUnavailable, selector: { matchLabels: labels } };
    const body = { apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata: { name: setName }, spec };
    return answerTo(client.create(podDisruptionBudgets, { namespace }, body, options));
  }

  setBudget(maxUnavailable: number): Promise<string> {
    const { client, namespace } = this.#ground;
    const place = { namespace, name: setName };
    return answerTo(client.patch(podDisruptionBudgets, place, mergePatch, { spec: { maxUnavailable } }, options));
  }

  patchSet(body: Json, subresource?: string): Promise<string> {
    const { client, namespace } = this.#ground;
    const place = { namespace, name: setName, ...(subresource !== undefined && { subresource }) };
    return answerTo(client.patch(statefulSets, place, mergePatch, body, options));
  }

  setImage(image: string): Promise<string> {
    return this.patchSet({ spec: { template: templateOf(image) } });
  }

  scale(replicas: number): Promise<string> {
    return this.patchSet({ spec: { replicas } });
  }

  setPartition(partition: number): Promise<string> {
    return this.patchSet({ spec: { updateStrategy: { type: 'RollingUpdate', rollingUpdate: { partition } } } });
  }

  /** As long as both revisions are as they are now, or what is given instead. */
  async promote(expected: Json = {}): Promise<string> {
    const { client, namespace } = this.#ground;
    const set = await client.get<Json>(statefulSets, { namespace, name: setName }, options);
    const { uid } = set['metadata'] as Json;
    const { currentRevision, updateRevision, updatedReplicas } = set['status'] as Json;
    const tests = { '/metadata/uid': uid, '/status/currentRevision': currentRevision, ...expected };
    const body = [
      ...Object.entries(tests).map(([path, value]) => ({ op: 'test', path, value })),
      { op: 'add', path: '/status/currentRevision', value: updateRevision },
      { op: 'add', path: '/status/currentReplicas', value: updatedReplicas },
    ];
    const place = { namespace, name: setName, subresource: 'status' };
    return answerTo(client.patch(statefulSets, place, 'application/json-patch+json', body, options));
  }

  /** To be the current one: that of a pod, or one that does not exist. */
  async setCurrent(revisionOf: number | null): Promise<string> {
    const { client, namespace } = this.#ground;
    if (revisionOf === null) return this.patchSet({ status: { currentRevision: 'not-kept' } }, 'status');
    const name = podName(revisionOf);
    const pod = await client.get<{ metadata: { labels: Record<string, string> } }>(pods, { namespace, name }, options);
    return this.patchSet({ status: { currentRevision: pod.metadata.labels[revisionHashLabel] } }, 'status');
  }

  /** As its kubelet does that evicts it. */
  fail(ordinal: number): Promise<string> {
    const { client, namespace } = this.#ground;
    const conditions = ['Ready', 'ContainersReady'].map((type) => ({ type, status: 'False' }));
    const status = { phase: 'Failed', reason: 'Evicted', conditions };
    const place = { namespace, name: podName(ordinal), subresource: 'status' };
    return answerTo(client.patch(pods, place, 'application/strategic-merge-patch+json', { status }, options));
  }

  /** Leaves the pods behind. */
  orphan(): Promise<string> {
    const { client, namespace } = this.#ground;
    const body = { apiVersion: 'v1', kind: 'DeleteOptions', propagationPolicy: 'Orphan' };
    return answerTo(client.remove(statefulSets, { namespace, name: setName }, body, options));
  }

  /** Bound to a node, running, and ready or not. */
  async run(ordinal: number, ready = true): Promise<string> {
    const { client, namespace } = this.#ground;
    const name = podName(ordinal);
    const pod = await client.get<Incarnation & { spec: { nodeName?: string } }>(pods, { namespace, name }, options);
    if (pod.spec.nodeName === undefined) {
      const metadata = { namespace, name, uid: pod.metadata.uid };
      const body = { apiVersion: 'v1', kind: 'Binding', metadata, target: { kind: 'Node', name: 'node-0' } };
      await client.create(pods, { namespace, name, subresource: 'binding' }, body, options);
    }
    const is = ready ? 'True' : 'False';
    const status = { phase: 'Running', conditions: ['Ready', 'ContainersReady'].map((type) => ({ type, status: is })) };
    const place = { namespace, name, subresource: 'status' };
    return answerTo(client.patch(pods, place, 'application/strategic-merge-patch+json', { status }, options));
  }

  /** The kubelet's last word. */
  finish(ordinal: number): Promise<string> {
    return this.deleteWithin(ordinal, 0);
  }

  /** With another grace period. */
  deleteWithin(ordinal: number, gracePeriodSeconds: number): Promise<string> {
    const { client, namespace } = this.#ground;
    const body = { apiVersion: 'v1', kind: 'DeleteOptions', gracePeriodSeconds };
    return answerTo(client.remove(pods, { namespace, name: podName(ordinal) }, body, options));
  }

  async delete(ordinal: number, change: Partial<Incarnation['metadata']> = {}): Promise<string> {
    const { client, namespace } = this.#ground;
    const preconditions = { ...(await this.#preconditions(ordinal)), ...change };
    const body = { apiVersion: 'v1', kind: 'DeleteOptions', preconditions };
    return answerTo(client.remove(pods, { namespace, name: podName(ordinal) }, body, options));
  }

  async evict(ordinal: number, change: Partial<Incarnation['metadata']> = {}): Promise<string> {
    const { client, namespace } = this.#ground;
    const name = podName(ordinal);
    const preconditions = { ...(await this.#preconditions(ordinal)), ...change };
    const metadata = { namespace, name };
    const body = { apiVersion: 'policy/v1', kind: 'Eviction', metadata, deleteOptions: { preconditions } };
    return answerTo(client.create(pods, { namespace, name, subresource: 'eviction' }, body, options));
  }

  async #preconditions(ordinal: number): Promise<Incarnation['metadata']> {
    const { client, namespace } = this.#ground;
    const { metadata } = await client.get<Incarnation>(pods, { namespace, name: podName(ordinal) }, options);
    return { uid: metadata.uid, resourceVersion: metadata.resourceVersion };
  }
}

function templateOf(image: string): Json {
  return { metadata: { labels }, spec: { terminationGracePeriodSeconds: 30, containers: [{ name: 'main', image }] } };
}

/** `done`, or the code, the reason and the budget's message. */
async function answerTo(call: Promise<unknown>): Promise<string> {
  try {
    await call;
    return 'done';
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const causes = error.causes.map(({ reason, message }) => `${reason}: ${message}`);
    return [String(error.status), error.reason, ...causes].join(' ');
  }
}

export type Deed = readonly [words: string, act: (player: Player) => Promise<string>];

const otherUid = { uid: '00000000-0000-0000-0000-000000000000' };
const olderVersion = { resourceVersion: '1' };
const ran = (ordinal: number, ready = true): Deed => [
  `${ordinal} runs and is ${ready ? '' : 'not '}ready`,
  (player) => player.run(ordinal, ready),
];
const ends = (ordinal: number): Deed => [`${ordinal} has ended`, (player) => player.finish(ordinal)];

const allRun: readonly Deed[] = [ran(0), ran(1), ran(2)];
/** Its successor runs. */
const again = (ordinal: number): readonly Deed[] => [ends(ordinal), ran(ordinal)];

/** Scripts, by what they are about. After each deed the controllers are given their time. */
export const scripts: Readonly<Record<string, readonly Deed[]>> = {
  'OnDelete, evictions and preconditions': [
    ['a budget is made', (player) => player.createBudget()],
    ['a StatefulSet is made', (player) => player.create({ type: 'OnDelete' }, 'one')],
    ...allRun,
    ['2 is evicted as another pod', (player) => player.evict(2, otherUid)],
    ['2 is evicted as it was before', (player) => player.evict(2, olderVersion)],
    ['2 is evicted', (player) => player.evict(2)],
    ['1 is evicted beside it', (player) => player.evict(1)],
    ...again(2),
    ['another image is asked for', (player) => player.setImage('two')],
    ['1 is deleted as it was before', (player) => player.delete(1, olderVersion)],
    ['1 is deleted', (player) => player.delete(1)],
    ['1 is deleted once more', (player) => player.delete(1)],
    ['1 is deleted within a longer time', (player) => player.deleteWithin(1, 40)],
    ['1 is deleted within a shorter time', (player) => player.deleteWithin(1, 20)],
    ['1 is deleted within a longer time again', (player) => player.deleteWithin(1, 25)],
    ['0 is evicted beside it', (player) => player.evict(0)],
    ...again(1),
    ['0 turns not ready', (player) => player.run(0, false)],
    ['2 is evicted while 0 is not ready', (player) => player.evict(2)],
    ['0 is evicted, which is not ready, as another pod', (player) => player.evict(0, otherUid)],
    ['0 is evicted, which is not ready, as it was before', (player) => player.evict(0, olderVersion)],
    ...again(0),
    ['2 is evicted', (player) => player.evict(2)],
    ...again(2),
    ['it is promoted as another StatefulSet', (player) => player.promote({ '/metadata/uid': otherUid.uid })],
    ['it is promoted as if it had another one', (player) => player.promote({ '/status/currentRevision': 'other' })],
    ['it is promoted as if it had none', (player) => player.promote({ '/status/other': 'other' })],
    ['the current revision is promoted', (player) => player.promote()],
    ['the budget closes', (player) => player.setBudget(0)],
    ['1 is evicted', (player) => player.evict(1)],
    ['the first image is asked for again', (player) => player.setImage('one')],
  ],
  'RollingUpdate by its partition': [
    ['a budget is made', (player) => player.createBudget()],
    [
      'a StatefulSet is made',
      (player) => player.create({ type: 'RollingUpdate', rollingUpdate: { partition: 3 } }, 'one'),
    ],
    ran(2),
    ran(1),
    ran(0),
    ['another image is asked for', (player) => player.setImage('two')],
    ['1 is deleted, above which the partition is', (player) => player.delete(1)],
    ...again(1),
    ['the partition goes down to 2', (player) => player.setPartition(2)],
    ...again(2),
    ['the partition goes down to 0', (player) => player.setPartition(0)],
    ...again(1),
    ...again(0),
    [
      'it is set to OnDelete',
      (player) => player.patchSet({ spec: { updateStrategy: { type: 'OnDelete', rollingUpdate: null } } }),
    ],
    ['a third image is asked for', (player) => player.setImage('three')],
    ['the StatefulSet goes and leaves its pods', (player) => player.orphan()],
    ['it is made again, as it was', (player) => player.create({ type: 'OnDelete' }, 'three')],
    ['2 is deleted', (player) => player.delete(2)],
    ...again(2),
  ],
  'new pods at the current revision, by a partition above the last member': [
    ['a budget is made', (player) => player.createBudget()],
    ['a StatefulSet is made', (player) => player.create({ type: 'OnDelete' }, 'one')],
    ...allRun,
    ['another image is asked for', (player) => player.setImage('two')],
    ['new pods are to come up at the current revision', (player) => player.setPartition(3)],
    ['1 is deleted', (player) => player.delete(1)],
    ...again(1),
    ['2 fails', (player) => player.fail(2)],
    ran(2),
    ['0 is deleted by force', (player) => player.deleteWithin(0, 0)],
    ran(0),
    [
      'new pods are to come up at the update revision',
      (player) => player.patchSet({ spec: { updateStrategy: { type: 'OnDelete', rollingUpdate: null } } }),
    ],
    ['2 is deleted', (player) => player.delete(2)],
    ...again(2),
    ['new pods are to come up at the current revision again', (player) => player.setPartition(3)],
    ['2 is deleted, which is updated', (player) => player.delete(2)],
    ...again(2),
    ['the StatefulSet goes and leaves its pods', (player) => player.orphan()],
    ['it is made again', (player) => player.create({ type: 'RollingUpdate', rollingUpdate: { partition: 3 } }, 'two')],
    ['1 is deleted', (player) => player.delete(1)],
    ...again(1),
    ['the revision of 0 becomes the current one', (player) => player.setCurrent(0)],
    ['2 is deleted', (player) => player.delete(2)],
    ...again(2),
    ['a revision becomes the current one that does not exist', (player) => player.setCurrent(null)],
    ['2 is deleted', (player) => player.delete(2)],
    ...again(2),
    ['0 is deleted, the last that is not updated', (player) => player.delete(0)],
    ...again(0),
  ],
  'one member': [
    ['a budget is made that lets no member go', (player) => player.createBudget(0)],
    ['a StatefulSet of one is made', (player) => player.create({ type: 'OnDelete' }, 'one', 1)],
    ran(0),
    ['another image is asked for', (player) => player.setImage('two')],
    ['0 is evicted', (player) => player.evict(0)],
    ['the budget opens', (player) => player.setBudget(1)],
    ['0 is evicted', (player) => player.evict(0)],
    ends(0),
    ran(0, false),
    ['0 is evicted, which is not ready', (player) => player.evict(0)],
    ['0 is deleted', (player) => player.delete(0)],
    ...again(0),
    ['the current revision is promoted', (player) => player.promote()],
    ['another two are wanted', (player) => player.scale(3)],
    ran(2),
    ran(1),
  ],
  'five members, two of them away at once': [
    ['a budget is made that lets two go', (player) => player.createBudget(2)],
    ['a StatefulSet of five is made', (player) => player.create({ type: 'OnDelete' }, 'one', 5)],
    ...[0, 1, 2, 3, 4].map((ordinal) => ran(ordinal)),
    ['another image is asked for', (player) => player.setImage('two')],
    ['4 is evicted', (player) => player.evict(4)],
    ['3 is evicted beside it', (player) => player.evict(3)],
    ['2 is evicted beside both', (player) => player.evict(2)],
    ...again(3),
    ['2 is evicted, 4 being away', (player) => player.evict(2)],
    ends(2),
    ...again(4),
    ['1 turns not ready', (player) => player.run(1, false)],
    ['0 is evicted, 1 and 2 being away', (player) => player.evict(0)],
    ['1 is evicted, which is not ready', (player) => player.evict(1)],
    ran(2),
    ...again(1),
    ['0 is evicted', (player) => player.evict(0)],
    ...again(0),
    ['the current revision is promoted', (player) => player.promote()],
    ['it rolls by its partition again', (player) => player.setPartition(5)],
    ['a third image is asked for', (player) => player.setImage('three')],
    ['the partition goes down to 3', (player) => player.setPartition(3)],
    ...again(4),
    ...again(3),
    ['1 is deleted, above which the partition is', (player) => player.delete(1)],
    ...again(1),
    ['the partition goes down to 2', (player) => player.setPartition(2)],
    ...again(2),
  ],
};
