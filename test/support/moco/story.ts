import { demoteAnnotation, roleLabel } from '../../../src/moco/names.ts';
import { mergePatch } from '../merge-patch.ts';
import type { ClusterView, Moment } from './cluster-view.ts';
import { clusteringStep } from './clustering.ts';
import { type ClusteringMind, freshMind } from './clustering-mind.ts';
import { type Faults, noFaults } from './faults.ts';
import { ordinalOf } from './names.ts';
import type { Condition, MySQLCluster, Pod } from './objects.ts';
import { processOf } from './pods.ts';
import { mysqldReady } from './readiness.ts';
import { isRecord, same } from './same.ts';
import { sampleCluster } from './sample.ts';
import { type ClusteringDurations, fastClustering } from './settings.ts';
import type { Write } from './write.ts';

const startOfTime = Date.parse('2026-11-21T07:00:00Z');

/**
 * One cluster with its databases in virtual time: the clustering loop writes, a kubelet makes pods ready as their
 * database serves, and every change is recorded in order, one line each.
 */
export class Story {
  readonly reported: string[] = [];
  faults: Faults = noFaults;
  #view: ClusterView;
  #mind: ClusteringMind = freshMind;
  #milliseconds = 0;
  #uids = 0;
  readonly #durations: ClusteringDurations;

  constructor(replicas: number, spec: Readonly<Record<string, unknown>> = {}, durations = fastClustering) {
    this.#durations = durations;
    this.#view = { ...emptyView(cluster(replicas, spec)), pods: [] };
    for (let ordinal = 0; ordinal < replicas; ordinal += 1) {
      this.createPod(ordinal);
    }
  }

  /** A story that begins with a healthy cluster and an empty record. */
  static healthy(replicas: number, spec: Readonly<Record<string, unknown>> = {}): Story {
    const story = new Story(replicas, spec);
    story.startAll();
    story.settle();
    story.reported.length = 0;
    return story;
  }

  get cluster(): MySQLCluster {
    return this.#view.cluster;
  }

  get view(): ClusterView {
    return this.#view;
  }

  get mind(): ClusteringMind {
    return this.#mind;
  }

  get now(): Moment {
    return { monotonicMilliseconds: this.#milliseconds, wallMilliseconds: startOfTime + this.#milliseconds };
  }

  condition(type: string): string | undefined {
    const condition = this.cluster.status?.conditions?.find((candidate) => candidate.type === type);
    return condition === undefined ? undefined : `${condition.status} ${condition.reason}`;
  }

  pod(ordinal: number): Pod {
    const pod = this.#view.pods.find(({ metadata }) => ordinalOf(metadata.name) === ordinal);
    if (pod === undefined) {
      throw new Error(`expected a pod with ordinal ${ordinal}, got none`);
    }
    return pod;
  }

  isReady(ordinal: number): boolean {
    return this.pod(ordinal).status?.conditions?.some(({ status }) => status === 'True') ?? false;
  }

  createPod(ordinal: number): void {
    this.#uids += 1;
    const metadata = {
      name: `moco-test-${ordinal}`,
      namespace: 'default',
      uid: `pod-${this.#uids}`,
      resourceVersion: '1',
    };
    this.#view = { ...this.#view, pods: [...this.#view.pods, { metadata }] };
  }

  removePod(ordinal: number): void {
    this.#view = { ...this.#view, pods: this.#view.pods.filter((pod) => pod !== this.pod(ordinal)) };
  }

  startAll(): void {
    for (const { metadata } of this.#view.pods) {
      this.startMysqld(ordinalOf(metadata.name));
    }
  }

  startMysqld(ordinal: number, restartCount = 0): void {
    this.#mysqld(ordinal, { running: {} }, restartCount);
  }

  killMysqld(ordinal: number): void {
    this.#mysqld(ordinal, { terminated: {} }, 0);
  }

  annotatePod(ordinal: number, annotations: Readonly<Record<string, string | null>>): void {
    this.#change(this.pod(ordinal), { metadata: { annotations } });
  }

  demote(ordinal: number): void {
    this.annotatePod(ordinal, { [demoteAnnotation]: 'true' });
  }

  deletePod(ordinal: number): void {
    this.#change(this.pod(ordinal), { metadata: { deletionTimestamp: '2026-11-21T07:05:00Z' } });
  }

  annotateCluster(annotations: Readonly<Record<string, string | null>>): void {
    this.#view = { ...this.#view, cluster: mergePatch(this.cluster, { metadata: { annotations } }) as MySQLCluster };
  }

  changeSpec(spec: Readonly<Record<string, unknown>>): void {
    this.#view = { ...this.#view, cluster: mergePatch(this.cluster, { spec }) as MySQLCluster };
  }

  /** Goes on until nothing would happen any more, at most so many milliseconds. */
  settle(milliseconds = 60_000): void {
    const end = this.#milliseconds + milliseconds;
    for (;;) {
      this.#probe();
      const step = clusteringStep(this.#view, this.#mind, this.now, this.#durations, this.faults);
      const moved = !same(step.mind, this.#mind) || step.writes.length > 0;
      for (const write of step.writes) {
        this.#perform(write);
      }
      this.#tellDatabases(step.mind);
      this.#mind = step.mind;
      if (moved) {
        continue;
      }
      const wait = step.requeueAfterMilliseconds;
      if (wait === null || this.#milliseconds + wait > end) {
        this.#milliseconds = end;
        return;
      }
      this.#milliseconds += Math.max(1, wait);
    }
  }

  #mysqld(ordinal: number, state: Readonly<Record<string, unknown>>, restartCount: number): void {
    const pod = this.pod(ordinal);
    const containerStatuses = [{ name: 'mysqld', restartCount, state }];
    this.#replace(pod, { ...pod, status: { ...pod.status, containerStatuses } });
  }

  /** The kubelet: a pod is ready as long as its database serves. */
  #probe(): void {
    for (const pod of this.#view.pods) {
      const ordinal = ordinalOf(pod.metadata.name);
      const serves = processOf(pod) !== null && mysqldReady(this.#view, this.#mind, this.faults, pod);
      if (serves !== this.isReady(ordinal)) {
        this.reported.push(`${ordinal} ${serves ? 'ready' : 'not ready'}`);
        const conditions = [{ type: 'Ready', status: serves ? 'True' : 'False' }];
        this.#replace(pod, { ...pod, status: { ...pod.status, conditions } });
      }
    }
  }

  #tellDatabases(after: ClusteringMind): void {
    after.databases.forEach((database, ordinal) => {
      const before = this.#mind.databases[ordinal];
      if (database.writable !== (before?.writable ?? false)) {
        this.reported.push(`${ordinal} ${database.writable ? 'takes writes' : 'is read-only'}`);
      }
      if (database.source !== (before?.source ?? null) && database.source !== null) {
        this.reported.push(`${ordinal} follows ${database.source}`);
      }
    });
  }

  #perform(write: Write): void {
    if (write.verb === 'replaceStatus') {
      this.#tellStatus(write.body as unknown as MySQLCluster);
      this.#view = { ...this.#view, cluster: write.body as unknown as MySQLCluster };
    } else if (write.verb === 'patch' && write.kind === 'Pod') {
      const pod = this.pod(ordinalOf(write.name));
      if (pod.metadata.uid !== write.uid) {
        throw new Error(`expected a write for ${pod.metadata.uid}, got one for ${write.uid}`);
      }
      this.#tellPod(ordinalOf(write.name), write.body);
      this.#change(pod, write.body);
    } else {
      throw new Error(`expected a status or a pod, got ${write.verb} ${write.kind}`);
    }
  }

  #tellStatus(after: MySQLCluster): void {
    const before = this.cluster.status;
    const index = after.status?.currentPrimaryIndex;
    if (index !== (before?.currentPrimaryIndex ?? 0)) {
      this.reported.push(`index ${index}`);
    }
    const healthy = (conditions: readonly Condition[] | undefined): string | undefined => {
      const condition = conditions?.find(({ type }) => type === 'Healthy');
      return condition === undefined ? undefined : `Healthy ${condition.status} (${condition.reason})`;
    };
    const now = healthy(after.status?.conditions);
    if (now !== undefined && now !== healthy(before?.conditions)) {
      this.reported.push(now);
    }
  }

  #tellPod(ordinal: number, body: Readonly<Record<string, unknown>>): void {
    const metadata = isRecord(body['metadata']) ? body['metadata'] : {};
    const labels = isRecord(metadata['labels']) ? metadata['labels'] : {};
    const annotations = isRecord(metadata['annotations']) ? metadata['annotations'] : {};
    for (const [name, value] of Object.entries({ ...labels, ...annotations })) {
      this.reported.push(
        `${ordinal} ${name === roleLabel ? 'role' : name.split('/')[1]} ${typeof value === 'string' ? value : 'gone'}`,
      );
    }
  }

  #change(pod: Pod, body: Readonly<Record<string, unknown>>): void {
    this.#replace(pod, mergePatch(pod, body) as Pod);
  }

  #replace(before: Pod, after: Pod): void {
    this.#view = { ...this.#view, pods: this.#view.pods.map((pod) => (pod === before ? after : pod)) };
  }
}

/** A MySQLCluster as the API server would keep the sample. */
export function cluster(replicas = 3, spec: Readonly<Record<string, unknown>> = {}): MySQLCluster {
  const sample = sampleCluster({ name: 'test', namespace: 'default', replicas, spec });
  const metadata = { name: 'test', namespace: 'default', uid: 'cluster-1', resourceVersion: '1', generation: 1 };
  return mergePatch(sample, {
    metadata,
    spec: { maxDelaySeconds: 60, startupWaitSeconds: 3600 },
  }) as MySQLCluster;
}

/** Nothing but the MySQLCluster. */
export function emptyView(of: MySQLCluster): ClusterView {
  return {
    cluster: of,
    statefulSet: null,
    pods: [],
    services: [],
    serviceAccount: null,
    budget: null,
    backupCronJob: null,
    claims: [],
    storageClasses: [],
  };
}
