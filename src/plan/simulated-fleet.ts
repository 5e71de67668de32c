import { isDeepStrictEqual } from 'node:util';
import type { SequenceRecord } from '../api/rollout-sequence.ts';
import type { RolloutStatus } from '../api/rollout-status.ts';
import { milliseconds } from '../base/json.ts';
import { maintenanceFacts, measuredMembers } from '../controller/facts/maintenance-facts.ts';
import { memberName } from '../controller/facts/member-name.ts';
import type { NamespaceShare } from '../controller/facts/policy-layers.ts';
import { Fleet, type FleetLimits } from '../controller/fleet/fleet-limits.ts';
import type { ObservedFacts } from '../controller/pass/collect-facts.ts';
import { decide } from '../core/decide.ts';
import type { Hold } from '../core/decision.ts';
import { needsSlot } from '../core/gates.ts';
import { explainHold } from '../core/rules/catalogue.ts';
import { splitKey } from '../kube/store.ts';
import type { FleetPlan, PlannedCluster, Span } from './fleet-plan.ts';
import { begunStatus, statusAt } from './seen-status.ts';
import { type Beginning, type PlanEntry, SimulatedCluster } from './simulated-cluster.ts';

// Simulates all clusters of a fleet together, for `plan --fleet`.

export interface FleetInput {
  readonly nowSeconds: number;
  /** The facts of all clusters, by `namespace/name`: each cluster may keep others waiting. */
  readonly facts: ReadonlyMap<string, ObservedFacts>;
  readonly sequences: readonly SequenceRecord[];
  readonly limits: FleetLimits;
  /** The share of the slots that policies set for a namespace. */
  readonly shareOf: (namespace: string) => NamespaceShare | null;
}

/**
 * The state of a cluster at the beginning of a plan. An update of a member takes the measured time, or else the
 * expected time.
 */
export function beginningOf({ snapshot, policy, rollout, settings }: ObservedFacts, nowSeconds: number): Beginning {
  const status = rollout?.status ?? {};
  const { maintenance } = settings;
  const seconds = measuredMembers(status)?.seconds ?? maintenance.expectedMemberSeconds;
  return {
    snapshot,
    policy,
    memberSeconds: Math.max(1, Math.round(seconds)),
    maintenanceAt: (after) =>
      policy.mode === 'MOCO' ? null : maintenanceFacts(maintenance, status, (nowSeconds + after) * 1000),
  };
}

interface Played {
  readonly key: string;
  readonly facts: ObservedFacts;
  readonly cluster: SimulatedCluster;
  readonly revision: string;
  /** Whether the cluster has something to roll out. If not, other clusters may still wait for it to become healthy. */
  readonly isStale: boolean;
  readonly wasComplete: boolean;
  /** The status once the controller has seen the revision. */
  readonly atFirst: RolloutStatus;
  /** The last status of this cluster that the other clusters have seen. */
  seen: RolloutStatus | null;
}

/** Far more passes than any rollout needs. A plan that needs more would never end. */
const passesPerMember = 200;

/**
 * Simulates the rollouts of a fleet to their end, in virtual time. The controller's `Fleet` and `decide` determine
 * which cluster may begin and which steps are done. Each cluster decides at the times at which the controller would
 * decide.
 */
export const playFleet = (input: FleetInput): FleetPlan => new Play(input).run();

class Play {
  readonly #input: FleetInput;
  readonly #fleet: Fleet;
  readonly #played: ReadonlyMap<string, Played>;
  readonly #awake = new Set<string>();
  readonly #changed = new Set<string>();
  readonly #timers = new Map<string, number>();
  /** Seconds since the beginning of the plan. */
  #now = 0;
  #version = 0;

  constructor(input: FleetInput) {
    const { nowSeconds, facts, sequences, limits, shareOf } = input;
    this.#input = input;
    this.#fleet = new Fleet(
      limits,
      { wall: () => (nowSeconds + this.#now) * 1000 },
      (key) => this.#awake.add(key),
      (name) => this.#changed.add(name),
    );
    this.#fleet.setNamespaceShares(shareOf);
    for (const record of sequences) this.#fleet.stages.noteSequence(record.name, record);
    this.#played = new Map([...facts].map(([key, one]) => [key, playedOf(key, one, nowSeconds)]));
    for (const [key, one] of this.#played) {
      const { labels, offline } = one.facts.objects.cluster;
      this.#fleet.stages.noteCluster(key, { labels, offline, updateRevision: one.revision || null });
      this.#note(one);
    }
    for (const key of this.#played.keys()) this.#awake.add(key);
  }

  run(): FleetPlan {
    const members = [...this.#played.values()].reduce((sum, { facts }) => sum + facts.snapshot.cluster.replicas + 2, 0);
    let left = passesPerMember * members;
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
    const all = [...this.#played.values()];
    for (const { cluster } of all) cluster.close(this.#now);
    return {
      from: this.#input.nowSeconds,
      clusters: all.filter(({ isStale }) => isStale).map((one) => this.#planned(one)),
      recovering: all.filter(({ isStale, wasComplete }) => !isStale && !wasComplete).map(({ key }) => key),
    };
  }

  /** Lets every awake cluster decide, until no cluster is awake any more. Returns the number of passes. */
  #settle(most: number): number {
    let passes = 0;
    for (; passes < most; passes += 1) {
      for (const name of this.#changed) this.#fleet.stages.wakeConcerned(name);
      this.#changed.clear();
      const [key] = this.#awake;
      if (key === undefined) break;
      this.#awake.delete(key);
      const one = this.#played.get(key);
      if (one !== undefined) this.#pass(one);
    }
    return passes;
  }

  #pass(one: Played): void {
    const { key, cluster, facts, revision } = one;
    const fleet = this.#fleet.factsFor(key, facts.policy.mode, revision);
    const endOf = (hold: Hold): number | null => {
      if (hold.rule === 'AwaitingFleetInterval' && fleet.fleetInterval !== null) {
        return this.#now + Math.ceil(fleet.fleetInterval.seconds - fleet.fleetInterval.sinceSeconds);
      }
      return 'until' in hold && typeof hold.until === 'number' ? Math.ceil(hold.until) - this.#input.nowSeconds : null;
    };
    const again = cluster.pass(this.#now, { ...fleet, endOf });
    this.#note(one);
    if (again === null) this.#timers.delete(key);
    else if (again <= this.#now) this.#awake.add(key);
    else this.#timers.set(key, again);
  }

  /** Writes the cluster's status, as the controller would. */
  #note(one: Played): void {
    const status = statusAt(one.cluster, one.atFirst, this.#input.nowSeconds, this.#now);
    if (isDeepStrictEqual(status, one.seen)) return;
    one.seen = status;
    const [namespace, name] = splitKey(one.key);
    this.#version += 1;
    const metadata = { namespace, name, uid: one.key, resourceVersion: String(this.#version) };
    this.#fleet.note(one.key, { apiVersion: '', kind: '', metadata, status });
  }

  #planned({ key, facts, cluster, atFirst }: Played): PlannedCluster {
    const { nowSeconds } = this.#input;
    const [namespace, name] = splitKey(key);
    const { stop, endedAt, entries } = cluster;
    const spans = spansOf(entries, nowSeconds);
    const first = entries.find((entry) => entry.kind === 'step' && needsSlot(entry.effects));
    const place = this.#placeOf(facts);
    return {
      namespace,
      name,
      sequence: place?.sequence ?? null,
      stage: place?.stage ?? null,
      mode: facts.policy.mode,
      // Where MOCO replaces the pods, it begins the rollout by itself.
      beginsAt:
        begunBefore(atFirst) ??
        (first && nowSeconds + first.begins) ??
        spans.find(({ what }) => what === 'Updating')?.from ??
        (endedAt === null ? null : nowSeconds),
      endsAt: endedAt === null ? null : nowSeconds + endedAt,
      spans,
      stop: stop && { rule: stop.rule, sentence: explainHold(stop, memberName(facts)) },
      memberSeconds: cluster.beginning.memberSeconds,
      measured: measuredMembers(facts.rollout?.status ?? {}) !== null,
    };
  }

  #placeOf({ objects }: ObservedFacts): { readonly sequence: string; readonly stage: string } | null {
    const { offline, labels } = objects.cluster;
    for (const { name, sequence, stageOf } of offline ? [] : this.#input.sequences) {
      const stage = stageOf(labels);
      if (stage !== null) return { sequence: name, stage: sequence.stages[stage]?.name ?? '' };
    }
    return null;
  }
}

/** The steps and waits, one after another. Updates that overlap are merged. */
function spansOf(entries: readonly PlanEntry[], nowSeconds: number): readonly Span[] {
  const spans: Span[] = [];
  for (const entry of entries) {
    const [from, until] = [nowSeconds + entry.begins, nowSeconds + entry.ends];
    const last = spans.at(-1);
    if (entry.kind === 'wait') spans.push({ what: entry.hold.rule, from, until });
    if (entry.kind !== 'step' || until <= from) continue;
    if (last?.what !== 'Updating' || last.until < from) spans.push({ what: 'Updating', from, until });
    else spans[spans.length - 1] = { ...last, until: Math.max(last.until, until) };
  }
  return spans;
}

function playedOf(key: string, facts: ObservedFacts, nowSeconds: number): Played {
  const { objects, rollout, snapshot, policy } = facts;
  const status = rollout?.status ?? {};
  const revision = objects.statefulSet?.updateRevision ?? '';
  const { stale, complete } = decide(snapshot, policy);
  const isStale = stale > 0 || status.rollout?.revision === revision;
  const atFirst = isStale ? begunStatus(status, revision, nowSeconds) : { ...status, updateRevision: revision };
  const cluster = new SimulatedCluster(beginningOf(facts, nowSeconds));
  return { key, facts, cluster, revision, isStale, wasComplete: complete, atFirst, seen: null };
}

function begunBefore({ rollout }: RolloutStatus): number | null {
  const at = milliseconds(rollout?.begunAt ?? null);
  return at === null ? null : Math.floor(at / 1000);
}
