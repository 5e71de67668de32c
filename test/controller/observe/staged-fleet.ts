import type { RolloutStatus } from '../../../src/api/rollout-status.ts';
import type { SequenceSpec } from '../../../src/api/sequence.ts';
import { Cache, splitKey } from '../../../src/controller/observe/cache.ts';
import { Fleet, noFleetLimits } from '../../../src/controller/observe/fleet.ts';
import { followFleet } from '../../../src/controller/observe/follow-fleet.ts';
import { wholeRecord } from '../../../src/controller/observe/rollout-record.ts';
import { projectSequence } from '../../../src/controller/observe/sequence-record.ts';
import type { FleetWait } from '../../../src/core/fleet/waits.ts';
import type { ClusterRecord, StatefulSetRecord } from '../../../src/moco/records.ts';
import { timestampOf } from '../../../src/moco/timestamp.ts';

export interface FleetCluster {
  readonly key: string;
  labels: Readonly<Record<string, string>>;
  /** What its StatefulSet asks for. */
  revision: string;
  offline: boolean;
  status: RolloutStatus;
}

const start = Date.parse('2026-07-01T12:00:00Z');

/**
 * Clusters and sequences as the API server has them, and one leader's fleet. Members, pods and steps are left out: a
 * rollout begins, ends or fails as a whole.
 */
export class StagedFleet {
  readonly clusters = new Map<string, FleetCluster>();
  readonly sequences = new Map<string, SequenceSpec>();
  /** Clusters that have to decide: woken by the fleet, by a change of their own, or by a timer. */
  readonly awake = new Set<string>();
  readonly #timers = new Map<string, number>();
  nowSeconds = 0;
  #version = 0;
  #cache = new Cache();
  #fleet = this.#lead();

  get now(): string {
    return timestampOf(start + this.nowSeconds * 1000);
  }

  secondsSince(timestamp: string | undefined): number {
    return this.nowSeconds - (Date.parse(timestamp ?? '') - start) / 1000;
  }

  add(key: string, labels: FleetCluster['labels'], revision = '0'): FleetCluster {
    const completeSince = timestampOf(start - 10_000_000);
    const cluster = { key, labels, revision, offline: false, status: { updateRevision: revision, completeSince } };
    this.clusters.set(key, cluster);
    this.changed(cluster);
    return cluster;
  }

  remove(key: string): void {
    const [namespace, name] = splitKey(key);
    this.clusters.delete(key);
    this.#cache.clusters.remove(namespace, name);
    this.#cache.rollouts.remove(namespace, name);
    this.#cache.statefulSets.remove(namespace, `moco-${name}`);
  }

  sequence(name: string, spec: SequenceSpec | null): void {
    if (spec === null) {
      this.sequences.delete(name);
      this.#cache.sequences.remove('', name);
      return;
    }
    this.sequences.set(name, spec);
    this.#putSequence(name, spec);
  }

  /** The watches deliver the cluster as it is now. */
  changed(cluster: FleetCluster): void {
    this.#put(cluster);
    this.awake.add(cluster.key);
  }

  waits({ key, revision }: FleetCluster): readonly FleetWait[] {
    return this.#fleet.factsFor(key, 'OnDelete', revision).fleetWaits;
  }

  /** Another process leads, and knows nothing but what the API server has. */
  changeLeader(): void {
    this.#cache = new Cache();
    this.#fleet = this.#lead();
    for (const [name, spec] of this.sequences) this.#putSequence(name, spec);
    for (const cluster of this.clusters.values()) this.changed(cluster);
  }

  /** A pass over a cluster: the status, then, if nothing keeps it, the first step. Returns whether it begins. */
  pass(cluster: FleetCluster): boolean {
    this.awake.delete(cluster.key);
    if (cluster.offline) return false;
    const { rollout, updateRevision } = cluster.status;
    if (updateRevision !== cluster.revision) {
      const corrects = rollout?.failing === true;
      cluster.status = {
        updateRevision: cluster.revision,
        rollout: {
          ...progress,
          revision: cluster.revision,
          startedAt: this.now,
          ...(corrects && { begunAt: this.now }),
        },
      };
      this.#put(cluster);
    }
    const current = cluster.status.rollout;
    if (current === undefined || current.begunAt !== undefined) return false;
    const [wait] = this.waits(cluster).filter(({ remainingSeconds }) => remainingSeconds !== 0);
    if (wait === undefined) return true;
    if (wait.remainingSeconds !== null) this.#timers.set(cluster.key, this.nowSeconds + wait.remainingSeconds);
    if (cluster.status.hold?.rule !== wait.hold.rule) {
      cluster.status = { ...cluster.status, hold: { rule: wait.hold.rule, message: '', since: this.now } };
      this.#put(cluster);
    }
    return false;
  }

  begin(cluster: FleetCluster): void {
    const { hold: _, ...status } = cluster.status;
    if (status.rollout) cluster.status = { ...status, rollout: { ...status.rollout, begunAt: this.now } };
    this.#put(cluster);
  }

  end(cluster: FleetCluster, how: 'complete' | 'failing'): void {
    const { rollout, updateRevision } = cluster.status;
    if (rollout === undefined || updateRevision === undefined) return;
    cluster.status =
      how === 'complete'
        ? { updateRevision, completeSince: this.now }
        : { updateRevision, rollout: { ...rollout, failing: true } };
    this.#put(cluster);
  }

  wait(seconds: number): void {
    this.nowSeconds += seconds;
    for (const [key, at] of this.#timers) {
      if (at > this.nowSeconds) continue;
      this.#timers.delete(key);
      this.awake.add(key);
    }
  }

  /** The time until the first timer, or `null`. */
  get nextTimerSeconds(): number | null {
    return this.#timers.size === 0 ? null : Math.max(0, Math.min(...this.#timers.values()) - this.nowSeconds);
  }

  #lead(): Fleet {
    // As the work queue of sequences does: a change concerns clusters that have to be woken.
    const fleet: Fleet = new Fleet(
      noFleetLimits,
      { wall: () => start + this.nowSeconds * 1000 },
      (key) => this.awake.add(key),
      (name) => fleet.stages.wakeConcerned(name),
    );
    followFleet(this.#cache, fleet);
    return fleet;
  }

  #put({ key, labels, revision, offline, status }: FleetCluster): void {
    const [namespace, name] = splitKey(key);
    const metadata = { namespace, name, uid: key, resourceVersion: this.#next() };
    this.#cache.clusters.put({ ...metadata, labels, offline, deleting: false } as unknown as ClusterRecord);
    const statefulSet = { ...metadata, name: `moco-${name}`, clusterName: name, updateRevision: revision };
    this.#cache.statefulSets.put(statefulSet as unknown as StatefulSetRecord);
    this.#cache.rollouts.put(wholeRecord({ apiVersion: '', kind: '', metadata, status }));
  }

  #putSequence(name: string, spec: SequenceSpec): void {
    const version = this.#next();
    const metadata = { name, uid: name, resourceVersion: version, generation: Number(version) };
    const record = projectSequence({ metadata, spec });
    this.#cache.sequences.put(record);
  }

  #next(): string {
    this.#version += 1;
    return String(this.#version);
  }
}

const progress = {
  revision: '',
  startedAt: '',
  lastProgressAt: timestampOf(start),
  verified: false,
  takenDown: [],
  disruptions: 0,
  switchovers: 0,
};
