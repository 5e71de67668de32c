import { setTimeout as delay } from 'node:timers/promises';
import { roughly } from '../../../hack/bench/program/durations.ts';
import type { LiveCluster, LiveClusters } from '../../../hack/bench/rollouts/live-cluster.ts';
import { inWords, isBack, isSettled, type Sight } from '../../../hack/bench/rollouts/sight.ts';
import { rolloutKind } from '../../../src/api/rollout.ts';
import { apiVersion, pods, type ResourceKind } from '../../../src/kube/resource.ts';
import {
  agentContainer,
  annotationOn,
  clusterKind,
  demoteAnnotation,
  mysqldContainer,
  releasedAnnotation,
} from '../../../src/moco/names.ts';
import { statefulSetName } from '../../../src/moco/projections.ts';
import { beginBackup } from '../../support/moco/backup-job.ts';
import { dataVolume } from '../../support/moco/names.ts';
import { sampleCluster } from '../../support/moco/sample.ts';
import { createBackupPolicy } from '../../support/real-moco/backup-policy.ts';
import type { StoreRecord } from '../../verification/chaos/store-record.ts';
import type { Change } from '../../verification/witness/moment.ts';
import type { WitnessedCluster, WitnessedPod } from '../../verification/witness/objects.ts';
import type { Bed } from '../bed.ts';
import type { CheckedMember } from '../load/check-rows.ts';
import { type Endpoint, primaryAddress } from '../load/primary-address.ts';
import { type MysqlUser, type Passwords, readPasswords, Session } from '../load/session.ts';
import { now } from '../load/write-load.ts';
import type { Entry } from './timeline.ts';
import type { Way } from './way.ts';

export const clusterName = 'test';

/** What all clusters of a run share. */
export interface Surroundings {
  readonly bed: Bed;
  readonly record: StoreRecord;
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

type PodWithAddress = WitnessedPod & Endpoint;

interface Templates {
  readonly volumeClaimTemplates: readonly unknown[];
}

const mergePatch = 'application/merge-patch+json';
const priority = 'disrupt' as const;
/** Beyond this something is wrong: a member of an idle cluster needs more than a minute, and there are five. */
const patienceMilliseconds = 15 * 60_000;
const pollMilliseconds = 500;

/** One MySQLCluster with real servers in a namespace of its own, and what can be done to it. */
export class RealityCluster {
  readonly namespace: string;
  readonly #surroundings: Surroundings;
  readonly #live: LiveCluster;
  readonly #notes: Entry[] = [];
  #passwords: Passwords | null = null;

  private constructor(surroundings: Surroundings, namespace: string) {
    this.namespace = namespace;
    this.#surroundings = surroundings;
    this.#live = surroundings.clusters.follow(namespace, clusterName);
  }

  /** Resolves once every member serves and there is nothing to do about it. */
  static async create(surroundings: Surroundings, options: RealityClusterOptions): Promise<RealityCluster> {
    const { namespace, members, way, spec } = options;
    const { bed } = surroundings;
    await bed.createNamespace(namespace);
    const cluster = new RealityCluster(surroundings, namespace);
    try {
      const metadata = { namespace, name: clusterName };
      const rollout = { apiVersion: apiVersion(rolloutKind), kind: rolloutKind.kind, metadata, spec: way.settings };
      await bed.client.create(rolloutKind, { namespace }, rollout, { priority });
      await bed.prepareCluster(namespace, clusterName);
      if (spec['backupPolicyName'] !== undefined)
        await createBackupPolicy(bed.client, namespace, spec['backupPolicyName']);
      const { annotations } = way;
      const image = bed.images.first;
      const body = sampleCluster({ name: clusterName, namespace, replicas: members, image, annotations, spec });
      await bed.client.create(clusterKind, { namespace }, body, { priority });
      await cluster.untilAtRest();
      cluster.#passwords = await readPasswords(bed.client, namespace, clusterName);
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

  get passwords(): Passwords {
    if (this.#passwords === null) throw new Error(`Expected ${this.namespace} to have a Secret, it has none yet`);
    return this.#passwords;
  }

  /** Everything that was done to it, for the timeline. */
  get notes(): readonly Entry[] {
    return this.#notes;
  }

  get changes(): readonly Change[] {
    return this.#surroundings.record.changes(this.namespace);
  }

  /** Where the primary's Service sends a new connection now. */
  get primaryAddress(): string | null {
    return primaryAddress(this.#pods());
  }

  /** Members that can be asked for their rows. */
  get addresses(): readonly CheckedMember[] {
    return this.#pods().flatMap(({ metadata: { name }, status }) =>
      status?.podIP === undefined ? [] : [{ name, address: status.podIP }],
    );
  }

  /** Members with transactions that no other has. */
  get errant(): readonly number[] {
    const present = this.#surroundings.record.present(this.namespace);
    const cluster = present.get(`${clusterKind.kind}/${clusterName}`) as WitnessedCluster | undefined;
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
    await this.bed.client.patch(pods, place, mergePatch, { metadata: { annotations } }, { priority });
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

  /** SIGKILL: the container is started again as kubelet does. */
  kill(ordinal: number, container: string = mysqldContainer): void {
    this.note(`kills ${container} of member ${ordinal}`);
    this.bed.killContainer(this.namespace, this.podName(ordinal), container);
  }

  /** SIGKILL, and the container stays down until {@link heal}, or until another pod takes this one's place. */
  hold(ordinal: number, container: string = mysqldContainer): void {
    this.note(`kills ${container} of member ${ordinal} and keeps it down`);
    this.bed.holdContainer(this.namespace, this.podName(ordinal), container);
  }

  heal(ordinal: number): void {
    this.note(`lets mysqld of member ${ordinal} start again`);
    this.bed.heal(this.namespace, this.podName(ordinal));
  }

  /** Its servers are gone, only the node controller reports, and no deletion ends, until {@link returnNode}. */
  loseNode(ordinal: number): void {
    this.note(`the node of member ${ordinal} is lost`);
    const pod = this.podName(ordinal);
    this.bed.nodes.loseNode(this.namespace, pod);
    for (const container of [mysqldContainer, agentContainer]) {
      this.bed.killContainer(this.namespace, pod, container);
    }
  }

  returnNode(ordinal: number): void {
    this.note(`the node of member ${ordinal} is back`);
    this.bed.nodes.returnNode(this.namespace, this.podName(ordinal));
  }

  /**
   * A member loses its volume, and its pod is deleted, as MOCO's documents say about a member that can't be repaired: the
   * new pod is initialized, and MOCO clones another member into it. Resolves once there is a new pod.
   */
  async emptyVolume(ordinal: number): Promise<void> {
    this.note(`empties the volume of member ${ordinal} and deletes its pod`);
    const pod = this.podName(ordinal);
    const uid = this.#uidOf(ordinal);
    this.bed.holdContainer(this.namespace, pod, mysqldContainer);
    await this.bed.emptyVolume(this.namespace, `${dataVolume}-${pod}`);
    await this.bed.client.remove(pods, { namespace: this.namespace, name: pod }, {}, { priority });
    await this.until('another pod', () => this.#uidOf(ordinal) !== uid && this.#uidOf(ordinal) !== null);
    this.bed.heal(this.namespace, pod);
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
    const member = this.addresses.find(({ name }) => name === this.podName(ordinal));
    if (member === undefined) throw new Error(`Expected member ${ordinal} of ${this.namespace} to run, it does not`);
    return Session.open(member.address, user, this.passwords);
  }

  /** Deletes it, since its servers would take memory and processors from the next one. Resolves once no pod is left. */
  async remove(): Promise<void> {
    const place = { namespace: this.namespace, name: clusterName };
    await this.bed.client.remove(clusterKind, place, {}, { priority });
    await this.#surroundings.race(this.#untilGone());
    this.stop();
  }

  stop(): void {
    this.#live.stop();
  }

  async #untilGone(): Promise<void> {
    const overdueAt = now() + patienceMilliseconds;
    while (this.#pods().length > 0) {
      if (now() > overdueAt) {
        throw new Error(`Expected the pods of ${this.namespace} to be gone within ${roughly(patienceMilliseconds)}`);
      }
      await delay(pollMilliseconds);
    }
  }

  #uidOf(ordinal: number): string | null {
    return this.sight.members.find((member) => member.ordinal === ordinal)?.uid ?? null;
  }

  #pods(): readonly PodWithAddress[] {
    return [...this.#surroundings.record.present(this.namespace)]
      .filter(([key]) => key.startsWith('Pod/'))
      .map(([, object]) => object as PodWithAddress);
  }

  async #patch(kind: ResourceKind, body: object): Promise<void> {
    const place = { namespace: this.namespace, name: clusterName };
    await this.bed.client.patch(kind, place, mergePatch, body, { priority });
  }
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
