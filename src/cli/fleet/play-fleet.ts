import { memberName, type ObservedFacts } from '../../controller/facts/collect-facts.ts';
import type { SequenceRecord } from '../../controller/facts/sequence-record.ts';
import { Fleet, type FleetLimits } from '../../controller/fleet/fleet-limits.ts';
import { explainHold } from '../../core/rules/catalogue.ts';
import { splitKey } from '../../kube/store.ts';
import type { FleetPlan, PlannedCluster, Stop } from '../../plan/fleet-plan.ts';
import { VirtualCluster } from './virtual-cluster.ts';

export interface FleetInput {
  readonly nowSeconds: number;
  /** Of all clusters, by `namespace/name`: each may keep others waiting. */
  readonly facts: ReadonlyMap<string, ObservedFacts>;
  readonly sequences: readonly SequenceRecord[];
  readonly limits: FleetLimits;
}

/** Far more than any rollout needs. A plan that needs more would never end. */
const passesPerMember = 200;

/**
 * Plays the rollouts of a fleet to their end, in virtual time. `Fleet` and `decide` of the controller say who may begin
 * and what is done; each cluster is asked when the controller would ask it.
 */
export function playFleet(input: FleetInput): FleetPlan {
  const play = new Play(input);
  play.run();
  return play.plan;
}

class Play {
  readonly #input: FleetInput;
  readonly #fleet: Fleet;
  readonly #clusters = new Map<string, VirtualCluster>();
  readonly #awake = new Set<string>();
  readonly #changed = new Set<string>();
  readonly #timers = new Map<string, number>();
  #now: number;
  #version = 0;

  constructor(input: FleetInput) {
    const { nowSeconds, facts, sequences, limits } = input;
    this.#input = input;
    this.#now = nowSeconds;
    this.#fleet = new Fleet(
      limits,
      { wall: () => this.#now * 1000 },
      (key) => this.#awake.add(key),
      (name) => this.#changed.add(name),
    );
    for (const record of sequences) this.#fleet.stages.noteSequence(record.name, record);
    for (const [key, one] of facts) {
      const cluster = new VirtualCluster(one, nowSeconds);
      const { labels, offline } = one.objects.cluster;
      this.#clusters.set(key, cluster);
      this.#fleet.stages.noteCluster(key, { labels, offline, updateRevision: cluster.revision || null });
      this.#note(key, cluster);
    }
    for (const key of this.#clusters.keys()) this.#awake.add(key);
  }

  run(): void {
    let left =
      passesPerMember *
      [...this.#input.facts.values()].reduce((sum, one) => sum + one.snapshot.cluster.replicas + 2, 0);
    while (left > 0) {
      left -= this.#settle(left);
      const next = Math.min(...this.#timers.values());
      if (next === Number.POSITIVE_INFINITY) break;
      this.#now = Math.max(this.#now, next);
      for (const [key, at] of this.#timers) {
        if (at > this.#now) continue;
        this.#timers.delete(key);
        this.#awake.add(key);
      }
    }
    for (const cluster of this.#clusters.values()) cluster.close(this.#now);
  }

  /** Everybody who is awake decides, until nobody is. Returns the number of passes. */
  #settle(most: number): number {
    let passes = 0;
    for (; passes < most; passes += 1) {
      for (const name of this.#changed) this.#fleet.stages.wakeConcerned(name);
      this.#changed.clear();
      const [key] = this.#awake;
      if (key === undefined) break;
      this.#awake.delete(key);
      this.#pass(key);
    }
    return passes;
  }

  #pass(key: string): void {
    const cluster = this.#clusters.get(key);
    if (cluster === undefined) return;
    const before = cluster.status;
    const { mode } = cluster.policy;
    const again = cluster.pass(this.#now, this.#fleet.factsFor(key, mode, cluster.revision));
    if (cluster.status !== before) this.#note(key, cluster);
    if (again === null) this.#timers.delete(key);
    else if (again <= this.#now) this.#awake.add(key);
    else this.#timers.set(key, again);
  }

  /** Writes the cluster's status, as the controller would. */
  #note(key: string, { status }: VirtualCluster): void {
    const [namespace, name] = splitKey(key);
    this.#version += 1;
    const metadata = { namespace, name, uid: key, resourceVersion: String(this.#version) };
    this.#fleet.note(key, { apiVersion: '', kind: '', metadata, status });
  }

  get plan(): FleetPlan {
    const all = [...this.#clusters];
    return {
      from: this.#input.nowSeconds,
      clusters: all.filter(([, { isStale }]) => isStale).map(([key, cluster]) => this.#planned(key, cluster)),
      recovering: all.filter(([, { isStale, wasComplete }]) => !isStale && !wasComplete).map(([key]) => key),
    };
  }

  #planned(key: string, cluster: VirtualCluster): PlannedCluster {
    const [namespace, name] = splitKey(key);
    const { policy, begunAt, endedAt, spans, memberSeconds, measured } = cluster;
    const facts = this.#input.facts.get(key);
    const place = this.#placeOf(facts);
    return {
      namespace,
      name,
      sequence: place?.sequence ?? null,
      stage: place?.stage ?? null,
      mode: policy.mode,
      // MOCO begins by itself.
      beginsAt:
        begunAt ??
        spans.find(({ what }) => what === 'Updating')?.from ??
        (endedAt === null ? null : this.#input.nowSeconds),
      endsAt: endedAt,
      spans,
      stop: endedAt === null ? this.#stopOf(cluster, facts) : null,
      memberSeconds,
      measured,
    };
  }

  #placeOf(facts: ObservedFacts | undefined): { readonly sequence: string; readonly stage: string } | null {
    if (facts === undefined || facts.objects.cluster.offline) return null;
    for (const { name, sequence, stageOf } of this.#input.sequences) {
      const stage = stageOf(facts.objects.cluster.labels);
      if (stage !== null) return { sequence: name, stage: sequence.stages[stage]?.name ?? '' };
    }
    return null;
  }

  #stopOf({ stop }: VirtualCluster, facts: ObservedFacts | undefined): Stop | null {
    if (stop === null || facts === undefined) return null;
    return { rule: stop.rule, sentence: explainHold(stop, memberName(facts)) };
  }
}
