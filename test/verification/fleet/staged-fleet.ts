import { wholeRecord } from '../../../src/api/rollout.ts';
import { newRollout } from '../../../src/api/rollout-progress.ts';
import { projectSequence, type SequenceSpec, type SequenceStatus } from '../../../src/api/rollout-sequence.ts';
import { type RolloutStatus } from '../../../src/api/rollout-status.ts';
import { timestampOf } from '../../../src/base/json.ts';
import { Fleet, noFleetLimits } from '../../../src/controller/fleet/fleet-limits.ts';
import type { KnownStep } from '../../../src/controller/fleet/fleet-standing.ts';
import { followFleet } from '../../../src/controller/fleet/follow-fleet.ts';
import { sequenceStatusOf } from '../../../src/controller/fleet/sequence-status.ts';
import type { FleetWait } from '../../../src/core/fleet/waits.ts';
import { splitKey } from '../../../src/kube/store.ts';
import type { ClusterRecord, StatefulSetRecord } from '../../../src/moco/records.ts';
import { Cache } from '../../../src/objects/cache.ts';

export interface FleetCluster {
  readonly key: string;
  labels: Readonly<Record<string, string>>;
  /** What its StatefulSet asks for. */
  revision: string;
  offline: boolean;
  /** The rule with which a person keeps its rollout waiting, or `null`. */
  keptBy: 'Paused' | 'Released' | null;
  /** A member does not participate. */
  suffers: boolean;
  status: RolloutStatus;
}

const start = Date.parse('2026-07-01T12:00:00Z');

/** The step with which a rollout begins. */
const firstStep: KnownStep = { step: 'evict', effects: ['rolls', 'stops', 'reduces'] };

/**
 * Clusters and sequences as the API server has them, and one leader's fleet. Members, pods and steps are left out: a
 * rollout begins, ends or fails as a whole.
 */
export class StagedFleet {
  readonly clusters = new Map<string, FleetCluster>();
  readonly sequences = new Map<string, SequenceSpec>();
  readonly #statuses = new Map<string, SequenceStatus>();
  /** Rules that a person has switched off for every cluster. */
  readonly overridden = new Set<string>();
  /** Clusters that have to decide: woken by the fleet, by a change of their own, or by a timer. */
  readonly awake = new Set<string>();
  readonly #timers = new Map<string, number>();
  /** Ends of promises that the leader has made, by cluster. */
  readonly #promises = new Map<string, () => void>();
  /** Sequences whose clusters have changed: a work queue has each of them once. */
  readonly #concerned = new Set<string>();
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
    const cluster: FleetCluster = {
      key,
      labels,
      revision,
      offline: false,
      keptBy: null,
      suffers: false,
      status: { updateRevision: revision, completeSince },
    };
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
    this.#wakeConcerned();
  }

  sequence(name: string, spec: SequenceSpec | null): void {
    if (spec === null) {
      this.sequences.delete(name);
      this.#statuses.delete(name);
      this.#cache.sequences.remove('', name);
      this.#wakeConcerned();
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

  laterStageWaits({ key, revision }: FleetCluster): boolean {
    return this.#fleet.factsFor(key, 'OnDelete', revision).laterStageWaits;
  }

  /** Another process leads, and knows nothing but what the API server has. */
  changeLeader(): void {
    this.#cache = new Cache();
    this.#promises.clear();
    this.#fleet = this.#lead();
    // In the order in which the program lists them.
    for (const cluster of this.clusters.values()) this.changed(cluster);
    for (const [name, spec] of this.sequences) this.#putSequence(name, spec);
  }

  /**
   * A pass over a cluster: it decides by what the API server has, promises itself the first step if nothing keeps it, and
   * writes what it waits for. Returns whether it is about to begin.
   */
  pass(cluster: FleetCluster): boolean {
    this.awake.delete(cluster.key);
    if (cluster.offline) return false;
    const wait = this.waits(cluster).find(
      ({ hold, remainingSeconds }) => remainingSeconds !== 0 && !this.overridden.has(hold.rule),
    );
    const { rollout, updateRevision } = cluster.status;
    if (updateRevision !== cluster.revision) {
      const corrects = rollout?.failing !== undefined;
      cluster.status = {
        updateRevision: cluster.revision,
        rollout: {
          ...newRollout(cluster.revision, this.now),
          ...(corrects && { begunAt: this.now }),
        },
      };
      this.#put(cluster);
    }
    const { rollout: current } = cluster.status;
    if (current === undefined || cluster.keptBy !== null) {
      this.#hold(cluster, cluster.keptBy);
      return false;
    }
    if (current.begunAt !== undefined) {
      this.#hold(cluster, null);
      return false;
    }
    if (wait === undefined) {
      this.#promises.set(cluster.key, this.#fleet.promise(cluster.key, firstStep));
      this.#wakeConcerned();
      return true;
    }
    if (wait.remainingSeconds !== null) this.#timers.set(cluster.key, this.nowSeconds + wait.remainingSeconds);
    this.#hold(cluster, wait.hold.rule);
    return false;
  }

  /** The intent of the first step is written. */
  begin(cluster: FleetCluster): void {
    const { hold: _, ...status } = cluster.status;
    if (status.rollout) cluster.status = { ...status, rollout: { ...status.rollout, begunAt: this.now } };
    this.#put(cluster);
    this.#promises.get(cluster.key)?.();
    this.#promises.delete(cluster.key);
    this.#wakeConcerned();
  }

  /** A member stops participating, or participates again. */
  suffer(cluster: FleetCluster): void {
    if (cluster.suffers) {
      this.recover(cluster);
      return;
    }
    cluster.suffers = true;
    const { completeSince: _, ...status } = cluster.status;
    cluster.status = status;
    this.#put(cluster);
  }

  recover(cluster: FleetCluster): void {
    cluster.suffers = false;
    const { rollout, updateRevision } = cluster.status;
    if (rollout !== undefined || updateRevision === undefined) return;
    cluster.status = { updateRevision, completeSince: this.now };
    this.#put(cluster);
  }

  #hold(cluster: FleetCluster, rule: NonNullable<RolloutStatus['hold']>['rule'] | null): void {
    const { hold, ...status } = cluster.status;
    if ((hold?.rule ?? null) === rule) return;
    cluster.status = rule === null ? status : { ...status, hold: { rule, message: '', since: this.now } };
    this.#put(cluster);
  }

  end(cluster: FleetCluster | undefined, how: 'complete' | 'failing'): void {
    if (cluster === undefined) return;
    const { rollout, updateRevision } = cluster.status;
    if (rollout === undefined || updateRevision === undefined) return;
    cluster.status =
      how === 'complete'
        ? { updateRevision, ...(!cluster.suffers && { completeSince: this.now }) }
        : {
            updateRevision,
            rollout: { ...rollout, failing: { ordinal: 2, message: 'container mysqld is waiting (CrashLoopBackOff)' } },
          };
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

  #wakeConcerned(): void {
    for (const name of this.#concerned) {
      this.#fleet.stages.wakeConcerned(name);
      this.#writeStatus(name);
    }
    this.#concerned.clear();
  }

  #writeStatus(name: string): void {
    const { stages } = this.#fleet;
    const record = stages.sequence(name);
    if (record === undefined) return;
    const [counts, conflicts] = [stages.countsOf(record.sequence), stages.conflictsOf(name)];
    const nowSeconds = start / 1000 + this.nowSeconds;
    this.#statuses.set(name, sequenceStatusOf({ record, counts, conflicts, nowSeconds }));
  }

  #lead(): Fleet {
    const fleet: Fleet = new Fleet(
      noFleetLimits,
      { wall: () => start + this.nowSeconds * 1000 },
      (key) => this.awake.add(key),
      (name) => this.#concerned.add(name),
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
    this.#wakeConcerned();
  }

  #putSequence(name: string, spec: SequenceSpec): void {
    const version = this.#next();
    const metadata = { name, uid: name, resourceVersion: version, generation: Number(version) };
    const record = projectSequence({ metadata, spec, status: this.#statuses.get(name) ?? {} });
    this.#cache.sequences.put(record);
    this.#wakeConcerned();
  }

  #next(): string {
    this.#version += 1;
    return String(this.#version);
  }
}
