import { demoteAnnotation, roleLabel } from '../../../src/moco/names.ts';
import { mergePatch } from '../merge-patch.ts';
import { type Moment } from '../moment.ts';
import { clusterLines, podLines } from './chronicle.ts';
import type { ClusterView } from './cluster-view.ts';
import { clusteringStep } from './clustering.ts';
import { type ClusteringMind, freshMind } from './clustering-mind.ts';
import { mysqldReady } from './databases.ts';
import { type Faults, noFaults } from './faults.ts';
import { ordinalOf } from './names.ts';
import type { MySQLCluster, Pod } from './objects.ts';
import { isReady, processOf } from './pods.ts';
import { same } from './same.ts';
import { sampleCluster } from './sample.ts';
import { type ClusteringDurations, fastClustering } from './settings.ts';
import type { Write } from './write.ts';

const startOfTime = Date.parse('2026-11-21T07:00:00Z');
/** A kubelet calls a replica not ready after three probes, 10 s apart: longer than a failover takes (seen). */
const probesMilliseconds = 1000;

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
  /** By uid of a ready pod: since when its probe fails. */
  readonly #failingSince = new Map<string, number>();
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
    return isReady(this.pod(ordinal));
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
      const wait = this.#untilNext(step.requeueAfterMilliseconds);
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

  /** The kubelet: a pod is ready for the first time when MOCO has labelled it and its database serves. */
  #probe(): void {
    for (const pod of this.#view.pods) {
      const ready = this.#isToBeReady(pod);
      if (ready !== isReady(pod)) {
        const conditions = [{ type: 'Ready', status: ready ? 'True' : 'False' }];
        this.#replace(pod, { ...pod, status: { ...pod.status, conditions } });
      }
    }
  }

  #isToBeReady(pod: Pod): boolean {
    const { uid, labels } = pod.metadata;
    const runs = processOf(pod) !== null;
    const serves = runs && mysqldReady(this.#view, this.#mind.databases, this.faults, pod);
    const follows = this.#mind.databases[ordinalOf(pod.metadata.name)]?.source !== null;
    if (serves || !runs || !follows || !isReady(pod)) {
      this.#failingSince.delete(uid);
      // Where MOCO's configuration returns before it sets labels, a replica is ready without one.
      const needsLabel = this.faults.unconfigurable.length === 0;
      return serves && (!needsLabel || isReady(pod) || labels?.[roleLabel] !== undefined);
    }
    const since = this.#failingSince.get(uid) ?? this.#milliseconds;
    this.#failingSince.set(uid, since);
    return this.#milliseconds < since + probesMilliseconds;
  }

  /** To MOCO's next step or the kubelet's, whichever comes first. */
  #untilNext(requeueAfterMilliseconds: number | null): number | null {
    const waits = [...this.#failingSince.values()]
      .map((since) => since + probesMilliseconds - this.#milliseconds)
      .filter((wait) => wait > 0);
    const all = requeueAfterMilliseconds === null ? waits : [...waits, requeueAfterMilliseconds];
    return all.length === 0 ? null : Math.min(...all);
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
      const cluster = write.body as unknown as MySQLCluster;
      this.reported.push(...clusterLines(this.cluster, cluster));
      this.#view = { ...this.#view, cluster };
    } else if (write.verb === 'patch' && write.kind === 'Pod') {
      const pod = this.pod(ordinalOf(write.name));
      if (pod.metadata.uid !== write.uid) {
        throw new Error(`expected a write for ${pod.metadata.uid}, got one for ${write.uid}`);
      }
      this.#replace(pod, mergePatch(pod, write.body) as Pod);
    } else {
      throw new Error(`expected a status or a pod, got ${write.verb} ${write.kind}`);
    }
  }

  /** By another client: not told. */
  #change(pod: Pod, body: Readonly<Record<string, unknown>>): void {
    this.#put(pod, mergePatch(pod, body) as Pod);
  }

  #replace(before: Pod, after: Pod): void {
    this.reported.push(...podLines(before, after));
    this.#put(before, after);
  }

  #put(before: Pod, after: Pod): void {
    this.#view = { ...this.#view, pods: this.#view.pods.map((pod) => (pod === before ? after : pod)) };
  }
}

/** A MySQLCluster as the API server would keep the sample. */
export function cluster(replicas = 3, spec: Readonly<Record<string, unknown>> = {}): MySQLCluster {
  const sample = sampleCluster({ name: 'test', namespace: 'default', replicas, spec });
  const metadata = { name: 'test', namespace: 'default', uid: 'cluster-1', resourceVersion: '1', generation: 1 };
  return mergePatch(sample, { metadata, spec: { maxDelaySeconds: 60, startupWaitSeconds: 3600 } }) as MySQLCluster;
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
