import { roughly } from '../../../hack/program/progress.ts';
import { rolloutKind } from '../../../src/api/rollout.ts';
import { isNotFound } from '../../../src/kube/api-error.ts';
import { apiVersion, namespaces, persistentVolumeClaims, pods, type ResourceKind } from '../../../src/kube/resource.ts';
import {
  annotationOn,
  clusterKind,
  demoteAnnotation,
  mysqldContainer,
  releasedAnnotation,
  statefulSetName,
} from '../../../src/moco/names.ts';
import type { History } from '../../cluster/rollout-history.ts';
import type { ClusterNode } from '../../support/cluster/node.ts';
import { until } from '../../support/control-plane/until.ts';
import { beginBackup } from '../../support/moco/backup-job.ts';
import { dataVolume } from '../../support/moco/names.ts';
import { sampleCluster } from '../../support/moco/sample.ts';
import { createBackupPolicy } from '../../support/real-moco/backup-policy.ts';
import type { Change } from '../../verification/witness/moment.ts';
import type { WitnessedPod } from '../../verification/witness/objects.ts';
import type { Bed } from '../bed.ts';
import type { RunningPod } from '../containers.ts';
import { ClusterLoad } from '../load/cluster-load.ts';
import { type MysqlUser, mysqlPort, type Passwords, readPasswords, Session } from '../load/session.ts';
import { now } from '../load/write-load.ts';
import type { LiveCluster, LiveClusters } from '../sight/live-cluster.ts';
import { inWords, isBack, isSettled, type Sight } from '../sight/sight.ts';
import type { Entry } from './timeline.ts';
import type { Way } from './way.ts';

export const clusterName = 'test';

/** What all clusters of a run share. */
export interface Surroundings {
  readonly bed: Bed;
  readonly history: History;
  readonly clusters: LiveClusters;
  /** Rejects if this program is asked to end. */
  readonly race: <T>(work: Promise<T>) => Promise<T>;
}

export interface RealityClusterOptions {
  readonly namespace: string;
  readonly members: number;
  readonly way: Way;
  /** Of the MySQLCluster, beside what every one has. */
  readonly spec: Readonly<Record<string, unknown>>;
}

type SeenPod = Omit<WitnessedPod, 'status'> & RunningPod;

interface Templates {
  readonly volumeClaimTemplates: readonly unknown[];
}

/** Beyond this something is wrong: a member of an idle cluster needs more than a minute, and there are five. */
const patienceMilliseconds = 15 * 60_000;
/** Of one value, at a time: less than `max_allowed_packet`. */
const wantedBytes = 60_000_000;

/** One MySQLCluster with real servers in a namespace of its own, and what can be done to it. */
export class RealityCluster {
  readonly namespace: string;
  readonly #surroundings: Surroundings;
  readonly #live: LiveCluster;
  readonly #notes: Entry[] = [];

  private constructor(surroundings: Surroundings, namespace: string) {
    this.namespace = namespace;
    this.#surroundings = surroundings;
    this.#live = surroundings.clusters.follow(namespace, clusterName);
  }

  /** Its members are still to come: {@link untilAtRest}. */
  static async create(surroundings: Surroundings, options: RealityClusterOptions): Promise<RealityCluster> {
    const { namespace, members, way, spec } = options;
    const { bed } = surroundings;
    await bed.createNamespace(namespace);
    const cluster = new RealityCluster(surroundings, namespace);
    try {
      const metadata = { namespace, name: clusterName };
      const rollout = { apiVersion: apiVersion(rolloutKind), kind: rolloutKind.kind, metadata, spec: way.settings };
      await bed.client.create(rolloutKind, { namespace }, rollout);
      if (spec['backupPolicyName'] !== undefined)
        await createBackupPolicy(bed.client, namespace, spec['backupPolicyName']);
      const { annotations } = way;
      const image = bed.images.first;
      const body = sampleCluster({ name: clusterName, namespace, replicas: members, image, annotations, spec });
      await bed.client.create(clusterKind, { namespace }, body);
      return cluster;
    } catch (error) {
      cluster.stop();
      throw error;
    }
  }

  get bed(): Bed {
    return this.#surroundings.bed;
  }

  get sight(): Sight {
    const { sight } = this.#live;
    if (sight === null) throw new Error(`Expected ${this.namespace} to have been seen, it has not`);
    return sight;
  }

  /** Everything that was done to it, for the timeline. */
  get notes(): readonly Entry[] {
    return this.#notes;
  }

  get changes(): readonly Change[] {
    return this.#surroundings.history.witnessed(this.namespace);
  }

  /** As the API server shows them now. */
  get pods(): readonly SeenPod[] {
    return this.#surroundings.history.present(this.namespace, pods) as readonly SeenPod[];
  }

  /** Members with transactions that no other has. */
  get errant(): readonly number[] {
    const { cluster } = this.#surroundings.history.now(this.namespace);
    return cluster?.status?.errantReplicaList ?? [];
  }

  /** Returns a function that ends it. */
  onSight(listener: (sight: Sight) => void): () => void {
    return this.#live.onSight(listener);
  }

  note(text: string): void {
    this.#notes.push({ atMilliseconds: now(), what: 'scenario', text });
  }

  /** Resolves as soon as the condition holds; rejects with a message after a generous limit. */
  until(what: string, condition: (sight: Sight) => boolean): Promise<void> {
    const sentence = `Expected ${what} within ${roughly(patienceMilliseconds)} in ${this.namespace}, it is not`;
    const overdue = (sight: Sight | null): string =>
      `${sentence}: ${sight === null ? 'nothing was seen of it' : inWords(sight)}`;
    return this.#live.until(condition, patienceMilliseconds, overdue, this.#surroundings.race);
  }

  /** Every member serves, at the newest revision, and this program has finished with it. */
  untilAtRest(): Promise<void> {
    return this.until('the cluster to be at rest', isAtRest);
  }

  /** The same with another revision than that. */
  untilRolledOut(revision: string): Promise<void> {
    return this.until('the rollout to end', (sight) => sight.updateRevision !== revision && isAtRest(sight));
  }

  /** Writers through the primary's Service, which begin as soon as it has one. Resolves with the first row. */
  async startLoad(writers: number): Promise<ClusterLoad> {
    const { namespace } = this;
    const { cluster } = this.bed;
    // kubectl gives up at once where it waits for two objects that are both missing.
    for (const name of [`service/${statefulSetName(clusterName)}-primary`, `secret/${statefulSetName(clusterName)}`]) {
      await cluster.kubectl('wait', '--namespace', namespace, '--for=create', '--timeout=600s', name);
    }
    return this.#surroundings.race(ClusterLoad.start(cluster, { namespace, name: clusterName, writers }));
  }

  podName(ordinal: number): string {
    return `${statefulSetName(clusterName)}-${ordinal}`;
  }

  async setImage(image: string): Promise<void> {
    this.note(`sets image ${image}`);
    await this.patchSpec({ podTemplate: { spec: { containers: [{ name: mysqldContainer, image }] } } });
  }

  async patchSpec(spec: object): Promise<void> {
    await this.#patch(clusterKind, { spec });
  }

  /** Asks MOCO for a switchover, as a person may. */
  async demote(ordinal: number): Promise<void> {
    this.note(`demotes member ${ordinal}`);
    await this.annotate(ordinal, { [demoteAnnotation]: 'true' });
  }

  async annotate(ordinal: number, annotations: Readonly<Record<string, string>>): Promise<void> {
    const place = { namespace: this.namespace, name: this.podName(ordinal) };
    await this.bed.client.merge(pods, place, { metadata: { annotations } });
  }

  /** Resolves once there are so many, and all of them serve. */
  untilMembers(replicas: number): Promise<void> {
    return this.until(`${replicas} members`, (sight) => sight.members.length === replicas && isServing(sight));
  }

  async growVolumes(storage: string): Promise<void> {
    this.note(`asks for volumes of ${storage}`);
    const { spec } = sampleCluster({ name: clusterName, namespace: this.namespace, volumeSize: storage });
    await this.patchSpec({ volumeClaimTemplates: (spec as Templates).volumeClaimTemplates });
  }

  /** As `kubectl moco-rollout release` does. */
  async release(): Promise<void> {
    this.note('releases the cluster');
    await this.#patch(clusterKind, { metadata: { annotations: { [releasedAnnotation]: annotationOn } } });
  }

  /** SIGKILL. The kubelet starts the container again. */
  async kill(ordinal: number, container: string = mysqldContainer): Promise<void> {
    this.note(`kills ${container} of member ${ordinal}`);
    await this.bed.containers.kill(this.namespace, this.podName(ordinal), container);
  }

  /** SIGKILL again and again, until {@link heal} or until another pod takes this one's place. */
  async hold(ordinal: number, container: string = mysqldContainer): Promise<void> {
    this.note(`kills ${container} of member ${ordinal} and keeps it down`);
    await this.bed.containers.hold(this.namespace, this.podName(ordinal), container);
  }

  heal(ordinal: number): void {
    this.note(`lets mysqld of member ${ordinal} start again`);
    this.bed.containers.heal(this.namespace, this.podName(ordinal));
  }

  /** The kernel ends mysqld, which gets no more memory than it has. */
  async runOutOfMemory(ordinal: number): Promise<void> {
    this.note(`mysqld of member ${ordinal} gets no more memory`);
    const session = await this.session(ordinal, 'moco-admin');
    const ask = (): Promise<unknown> => session.run(`SELECT LENGTH(REPEAT('x', ${wantedBytes}))`).catch(() => null);
    const { containers } = this.bed;
    await containers
      .runOutOfMemory(this.namespace, this.podName(ordinal), mysqldContainer, ask)
      .finally(() => session.close());
  }

  /** On which a member runs. */
  nodeOf(ordinal: number): ClusterNode {
    return this.bed.containers.nodeNamed(this.#pod(ordinal)?.spec.nodeName);
  }

  /** The node of a member loses its power. Resolves to a function that switches it on again. */
  async loseNode(ordinal: number): Promise<() => Promise<void>> {
    const node = this.nodeOf(ordinal);
    this.note(`the node of member ${ordinal} loses its power`);
    await node.powerOff();
    return async () => {
      await node.start();
      this.note(`the node of member ${ordinal} is back`);
    };
  }

  /** Deletes the pod, as a person does. Resolves once there is another one. */
  async deletePod(ordinal: number): Promise<void> {
    this.note(`a person deletes ${this.podName(ordinal)}`);
    await this.#replacePod(ordinal, this.#pod(ordinal)?.metadata.uid);
  }

  /**
   * A member loses its volume, and its pod is deleted, as MOCO's documents say about a member that can't be repaired: the
   * new pod is initialized, and MOCO clones another member into it. Resolves once there is a new pod.
   */
  async emptyVolume(ordinal: number): Promise<void> {
    this.note(`deletes the volume of member ${ordinal} and its pod`);
    const uid = this.#pod(ordinal)?.metadata.uid;
    const claim = `${dataVolume}-${this.podName(ordinal)}`;
    // It goes with the last pod that uses it.
    await this.bed.client.remove(persistentVolumeClaims, { namespace: this.namespace, name: claim });
    await this.#replacePod(ordinal, uid, { gracePeriodSeconds: 1 });
  }

  /** Resolves to a function that ends the backup. */
  async beginBackup(): Promise<() => Promise<void>> {
    this.note('begins a backup');
    const end = await beginBackup(this.bed.client, this.namespace, clusterName);
    return async () => {
      this.note('ends the backup');
      await end();
    };
  }

  async session(ordinal: number, user: MysqlUser): Promise<Session> {
    const address = this.#pod(ordinal)?.status?.podIP;
    if (address === undefined) throw new Error(`Expected member ${ordinal} of ${this.namespace} to run, it does not`);
    const port = await this.bed.cluster.forward(address, mysqlPort);
    return Session.open('127.0.0.1', user, await this.#passwords(), port);
  }

  /** Deletes it with its namespace. Its servers end while the next cluster begins. */
  async remove(): Promise<void> {
    const { namespace } = this;
    await this.bed.client.remove(clusterKind, { namespace, name: clusterName });
    await this.#surroundings.race(this.#untilGone());
    await this.bed.client.remove(namespaces, { name: namespace });
    this.stop();
  }

  stop(): void {
    this.#live.stop();
  }

  async #untilGone(): Promise<void> {
    const isGone = (): boolean => this.#surroundings.history.now(this.namespace).cluster === null;
    await until(`${this.namespace}/${clusterName} is gone`, isGone, { milliseconds: patienceMilliseconds });
  }

  /** Deletes the pod, and resolves once there is another one than that with the uid. */
  async #replacePod(ordinal: number, uid: string | undefined, options: object = {}): Promise<void> {
    const place = { namespace: this.namespace, name: this.podName(ordinal) };
    // Somebody else may have deleted it just now.
    await this.bed.client.remove(pods, place, options).catch(unlessNotFound);
    await this.until('another pod', () => {
      const now = this.#pod(ordinal);
      return now !== undefined && now.metadata.uid !== uid;
    });
  }

  #pod(ordinal: number): SeenPod | undefined {
    return this.pods.find(({ metadata }) => metadata.name === this.podName(ordinal));
  }

  #passwords(): Promise<Passwords> {
    return readPasswords(this.bed.client, this.namespace, clusterName);
  }

  async #patch(kind: ResourceKind, body: object): Promise<void> {
    const place = { namespace: this.namespace, name: clusterName };
    await this.bed.client.merge(kind, place, body);
  }
}

function unlessNotFound(error: unknown): void {
  if (!isNotFound(error)) throw error;
}

const rested = ['UpToDate', 'Off'];

/** This program has nothing to do, or has no say; every member serves at the newest revision. */
export function isAtRest(sight: Sight): boolean {
  const { status, members, updateRevision } = sight;
  const isDone = rested.includes(status?.phase ?? '') || status?.hold?.rule === 'ForcedRollingUpdate';
  return isDone && status?.updateRevision === updateRevision && isServing(sight) && members.length > 0;
}

/** Every member is back at the newest revision, and MOCO is content with them. */
export function isServing(sight: Sight): boolean {
  const { members, updateRevision } = sight;
  return (
    updateRevision !== '' &&
    isSettled(sight) &&
    members.every((member) => isBack(member) && member.revision === updateRevision)
  );
}
