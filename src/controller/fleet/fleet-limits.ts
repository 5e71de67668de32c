import type { MySQLRollout } from '../../api/rollout.ts';
import type { Intent } from '../../api/rollout-status.ts';
import { milliseconds } from '../../base/json.ts';
import type { World } from '../../base/world.ts';
import type { Decision } from '../../core/decision.ts';
import type { FleetHold, FleetPlace } from '../../core/fleet/waits.ts';
import type { RolloutPolicy } from '../../core/policy.ts';
import { keepsTurn } from '../../core/rules/catalogue.ts';
import type { ClusterSnapshot } from '../../core/snapshot.ts';
import { isAtLeast } from '../../kube/raw-object.ts';
import { namespaceOfKey } from '../../kube/store.ts';
import type { FleetNumbers } from '../../telemetry/metrics.ts';
import type { NamespaceShare } from '../facts/policy-layers.ts';
import { Evictions } from './evictions.ts';
import { FirstClusters } from './first-clusters.ts';
import { FleetSlots } from './fleet-slots.ts';
import {
  disrupts,
  type FleetStanding,
  fleetStandingOf,
  hasBegun,
  type KnownStep,
  lowers,
  type TimedStep,
  takesSlot,
} from './fleet-standing.ts';
import { Stages } from './sequence-stages.ts';

// The limits across all clusters: slots, intervals, evictions, failures and stages.

/** What the state of other clusters means for this one. */
export type FleetFacts = Pick<
  ClusterSnapshot,
  'fleetWaits' | 'fleetQueue' | 'fleetInterval' | 'laterStageWaits' | 'unobservedEvictions'
>;

/** Limits across all clusters; 0 means no limit. */
export interface FleetLimits {
  readonly maxConcurrentRollouts: number;
  /**
   * The percentage of the slots that the clusters of one namespace may occupy while other namespaces have clusters as
   * well. A policy may set a different share.
   */
  readonly maxNamespaceShare: number;
  /** Whether clusters that no sequence selects wait until the first of them has verified its revision. */
  readonly verifyFirstCluster: boolean;
  /** Whether a rollout releases its slot to another cluster while its condition `Stalled` is True. */
  readonly releaseStalledSlots: boolean;
  readonly disruptionIntervalSeconds: number;
  readonly partitionUpdateIntervalSeconds: number;
  readonly maxFailingRollouts: number;
}

export const noFleetLimits: FleetLimits = {
  maxConcurrentRollouts: 0,
  maxNamespaceShare: 100,
  verifyFirstCluster: false,
  releaseStalledSlots: false,
  disruptionIntervalSeconds: 0,
  partitionUpdateIntervalSeconds: 0,
  maxFailingRollouts: 0,
};

/**
 * Enforces the limits across all clusters. Slots, steps and failures are counted from the MySQLRollouts in the API
 * server, so every leader gets the same counts. A slot counts as occupied as soon as it is promised to a step, before
 * the intent is written. So two concurrent reconciliations never both get the last slot.
 */
export class Fleet {
  readonly #limits: FleetLimits;
  readonly #world: Pick<World, 'wall'>;
  readonly #wake: (key: string) => void;
  readonly #known = new Map<string, FleetStanding>();
  readonly #failing = new Set<string>();
  /** Clusters that roll out a revision that is not known to work yet. */
  readonly #unverified: FirstClusters;
  /** When a revision was last verified, on the wall clock. */
  #lastVerified = Number.NEGATIVE_INFINITY;
  readonly #slots: FleetSlots;
  readonly #promised = new Map<string, TimedStep>();
  /** Clusters that, according to their last decision, have a running preflight, or nodes that refuse the revision. */
  readonly #asking = new Set<string>();
  /** Steps with intents that are not settled yet, by cluster. */
  readonly #open = new Map<string, TimedStep>();
  /**
   * Timestamps in statuses that are later than this process's clock, and when each was first seen. Such a time is in
   * the past, but the clock that wrote it is ahead.
   */
  readonly #ahead = new Map<number, number>();
  /** The times of the last completed steps, on the wall clock. */
  #lastDisruption = Number.NEGATIVE_INFINITY;
  #lastPartitionUpdate = Number.NEGATIVE_INFINITY;

  readonly stages: Stages;
  readonly evictions: Evictions;

  /**
   * `wake` is called with the key of each cluster that may begin now. `sequenceChanged` is called with the name of each
   * MySQLRolloutSequence whose clusters have changed.
   */
  constructor(
    limits: FleetLimits,
    world: Pick<World, 'wall'>,
    wake: (key: string) => void,
    sequenceChanged: (name: string) => void = () => undefined,
  ) {
    this.stages = new Stages(wake, sequenceChanged, () => world.wall());
    const { maxConcurrentRollouts: slots, maxNamespaceShare: namespaceShare } = limits;
    this.#slots = new FleetSlots({ slots, namespaceShare }, wake);
    this.evictions = new Evictions(wake);
    this.#unverified = new FirstClusters(() => world.wall());
    this.#limits = limits;
    this.#world = world;
    this.#wake = wake;
  }

  /** Sets how to look up the share of a namespace. Called again after each change of the policies. */
  setNamespaceShares(shareOf: (namespace: string) => NamespaceShare | null): void {
    this.#slots.setShares(shareOf);
  }

  /** Records a cluster's MySQLRollout from a watch or an own write; `null` if it no longer exists. */
  note(key: string, rollout: MySQLRollout | null): void {
    const before = this.#known.get(key);
    const failingBefore = this.#countedFailing(key);
    if (rollout === null) {
      this.#known.delete(key);
      this.#asking.delete(key);
    } else {
      const { uid, resourceVersion } = rollout.metadata;
      if (before?.uid === uid && isAtLeast(before.resourceVersion, resourceVersion)) return;
      this.#known.set(
        key,
        fleetStandingOf(rollout, (at) => this.#past(at)),
      );
      const { lastStep } = rollout.status ?? {};
      if (lastStep?.result === 'done') this.count(lastStep);
    }
    const now = this.#known.get(key);
    if (now?.failing || now?.refused) this.#failing.add(key);
    else this.#failing.delete(key);
    this.#noteSlot(key);
    if (before?.stuckBy !== now?.stuckBy && this.#unverified.has(key)) this.#wakeKeptByFirst();
    this.#lastVerified = Math.max(this.#lastVerified, now?.verifiedAt ?? Number.NEGATIVE_INFINITY);
    this.stages.noteRollout(key, now);
    if (now?.open) this.#open.set(key, now.open);
    else this.#open.delete(key);
    if (failingBefore !== this.#countedFailing(key)) this.#wakeWhere(({ waitingSince }) => waitingSince !== null);
  }

  /** Whether the circuit breaker counts the cluster as failing. Other clusters are woken only when this changes. */
  #countedFailing(key: string): boolean {
    return this.#limits.maxFailingRollouts > 0 && this.#failing.has(key);
  }

  /** Starts the intervals again from this step. The step was done, or its outcome will never be known. */
  count(one: KnownStep & Pick<Intent, 'at'>): void {
    const at = milliseconds(one.at) ?? Number.NEGATIVE_INFINITY;
    if (disrupts(one)) this.#lastDisruption = Math.max(this.#lastDisruption, at);
    if (lowers(one)) this.#lastPartitionUpdate = Math.max(this.#lastPartitionUpdate, at);
  }

  #past(at: number): number {
    const now = this.#world.wall();
    if (at <= now) return at;
    for (const before of this.#ahead.keys()) if (before <= now) this.#ahead.delete(before);
    const seen = this.#ahead.get(at) ?? now;
    this.#ahead.set(at, seen);
    return seen;
  }

  get numbers(): FleetNumbers {
    const all = [...this.#known.values()];
    const { maxConcurrentRollouts: limit } = this.#limits;
    return {
      slots: limit > 0 ? limit : null,
      rolling: all.filter(({ rolling }) => rolling).length,
      waiting: all.filter(({ waitingSince, rolling }) => waitingSince !== null && !rolling).length,
      stuck: this.#slots.stuck,
      failing: this.#failing.size,
      unobservedEvictions: this.evictions.unobserved(),
      waitingForDisruptionController: this.evictions.waiting,
    };
  }

  /**
   * The facts about other clusters that `decide` needs for a rollout to this revision.
   *
   * @param unreadable why it is not known whether a sequence selects the cluster, or `null`
   */
  factsFor(key: string, mode: RolloutPolicy['mode'], revision: string, unreadable: string | null = null): FleetFacts {
    return {
      fleetWaits: this.#waits(key, revision, unreadable),
      fleetQueue: this.#place(key),
      fleetInterval: this.#interval(key, mode),
      laterStageWaits: this.stages.laterStageWaits(key),
      unobservedEvictions: this.evictions.unobserved(key),
    };
  }

  #waits(key: string, revision: string, unreadable: string | null): ClusterSnapshot['fleetWaits'] {
    const known = this.#known.get(key);
    if (hasBegun(known, revision)) {
      const hasYielded = known?.revision === revision && known.queuedSince !== null;
      const again = hasYielded ? this.stages.waits(key, revision, this.#world.wall() / 1000) : [];
      return again.filter(({ hold }) => hold.rule === 'AwaitingStageSlot');
    }
    const hold = this.#breaker(key);
    const byLimit = hold === null ? [] : [{ hold, remainingSeconds: null }];
    const nowSeconds = this.#world.wall() / 1000;
    const ofStages = this.stages.selects(key) ? this.stages.waits(key, revision, nowSeconds) : byLimit;
    const waits = [...this.stages.waitsForDeparted(key, nowSeconds), ...ofStages];
    if (unreadable === null) return waits;
    return [{ hold: { rule: 'SequencesUnreadable', message: unreadable }, remainingSeconds: null }, ...waits];
  }

  /**
   * A cluster does not wait because of its own failure. Each failing cluster in its own namespace counts. Every other
   * namespace counts at most once, so that a tenant with many failing clusters stops only itself.
   */
  #breaker(key: string): FleetHold | null {
    const { maxFailingRollouts: limit } = this.#limits;
    if (limit <= 0) return null;
    const own = namespaceOfKey(key);
    const failing = [...this.#failing].filter((other) => other !== key);
    const counted = new Set(failing.map((other) => (namespaceOfKey(other) === own ? other : namespaceOfKey(other))));
    if (counted.size < limit) return null;
    const [cluster = ''] = failing.toSorted();
    return { rule: 'FleetFailing', failing: counted.size, limit, cluster };
  }

  /** Reserves a slot for a step that `decide` has just allowed. Returns a function that ends the reservation. */
  promise(key: string, step: KnownStep): () => void {
    if (!takesSlot(step)) return () => undefined;
    this.#promised.set(key, { step, at: this.#world.wall() });
    this.#claim(key);
    return () => {
      this.#promised.delete(key);
      this.#claim(key);
    };
  }

  /** Records what the last decision about a cluster waits for. */
  noteDecision(key: string, { step, hold }: Pick<Decision, 'step' | 'hold'>): void {
    this.evictions.setWaiting(key, hold?.rule === 'DisruptionControllerBehind');
    if (step.kind === 'none') this.setAsking(key, keepsTurn(hold?.rule));
  }

  /** Reserves a slot for a cluster when its preflight starts, before its status shows the preflight. */
  setAsking(key: string, asks: boolean): void {
    if (this.#asking.has(key) === asks) return;
    if (asks) this.#asking.add(key);
    else this.#asking.delete(key);
    this.#claim(key);
  }

  #claim(key: string): void {
    this.#noteSlot(key);
    this.stages.promise(key, this.#promised.has(key) || this.#asking.has(key));
  }

  /** The place of a cluster in the queue for slots, whatever its status shows. */
  #place(key: string): FleetPlace | null {
    const known = this.#known.get(key);
    if (known?.rolling === true) return null;
    const since = known?.queuedSince ?? this.#world.wall();
    const first = this.#firstOf(key, since);
    const place = this.#slots.placeOf(key, since, first);
    if (place === null || first === undefined || namespaceOfKey(first) === namespaceOfKey(key)) return place;
    return { ...place, firstForSeconds: this.#unverified.remainingSeconds(first) };
  }

  /**
   * The cluster that must verify the revision first, unless a revision was verified since this cluster began to wait.
   */
  #firstOf(key: string, since: number): string | undefined {
    if (!this.#limits.verifyFirstCluster || this.#lastVerified >= since || this.stages.selects(key)) return undefined;
    // Clusters of other namespaces do not wait for a cluster that may need a person, such as a paused cluster with a
    // missing member. Nor do they wait for a namespace that has already kept them waiting for long.
    const own = namespaceOfKey(key);
    return [...this.#unverified.keys()].find(
      (other) =>
        other !== key &&
        !this.stages.selects(other) &&
        (namespaceOfKey(other) === own ||
          ((this.#known.get(other)?.stuckBy ?? null) === null && this.#unverified.remainingSeconds(other) > 0)),
    );
  }

  #noteSlot(key: string): void {
    const known = this.#known.get(key);
    if (known === undefined) {
      if (this.#unverified.delete(key)) this.#wakeKeptByFirst();
      this.#slots.note(key, null);
      return;
    }
    // Once the status shows the rollout, only the status determines whether the cluster occupies a slot.
    const isPromised = this.#promised.has(key) || (this.#asking.has(key) && !known.rolling);
    // A stalled rollout that released its slot may continue without waiting for one.
    const keeps = known.rolling && !(known.stalled && this.#limits.releaseStalledSlots);
    const occupies = keeps || isPromised;
    if ((known.rolling || isPromised) && known.unverified && !this.#failing.has(key)) this.#unverified.add(key);
    else if (this.#unverified.delete(key)) this.#wakeKeptByFirst();
    const waitingSince = known.wantsSlot && !occupies ? known.queuedSince : null;
    this.#slots.note(key, { occupies, stuckBy: occupies ? known.stuckBy : null, waitingSince });
  }

  /** The interval that has the longest time left, or `null`. */
  #interval(key: string, mode: RolloutPolicy['mode']): ClusterSnapshot['fleetInterval'] {
    const { disruptionIntervalSeconds, partitionUpdateIntervalSeconds } = this.#limits;
    if (disruptionIntervalSeconds === 0 && partitionUpdateIntervalSeconds === 0) return null;
    const open = this.#openElsewhere(key);
    const since = (done: number, which: (step: TimedStep['step']) => boolean): number => {
      const last = open.reduce((newest, { step, at }) => (which(step) ? Math.max(newest, at) : newest), done);
      return Math.max(0, (this.#world.wall() - this.#past(last)) / 1000);
    };
    const disruption = {
      flag: '--disruption-interval',
      seconds: disruptionIntervalSeconds,
      sinceSeconds: since(this.#lastDisruption, disrupts),
    };
    const partition = {
      flag: '--partition-update-interval',
      seconds: mode === 'Partition' ? partitionUpdateIntervalSeconds : 0,
      sinceSeconds: since(this.#lastPartitionUpdate, lowers),
    };
    const left = (one: typeof disruption): number => one.seconds - one.sinceSeconds;
    const longer = left(partition) > left(disruption) ? partition : disruption;
    return longer.seconds > 0 && left(longer) > 0 ? longer : null;
  }

  /** Steps of other clusters that have a reservation, or an intent without a result. */
  #openElsewhere(key: string): readonly TimedStep[] {
    return [...this.#promised, ...this.#open].flatMap(([other, step]) => (other === key ? [] : [step]));
  }

  #wakeKeptByFirst(): void {
    if (!this.#limits.verifyFirstCluster) return;
    this.#wakeWhere(({ waitingSince }) => waitingSince !== null && waitingSince > this.#lastVerified);
  }

  #wakeWhere(is: (one: FleetStanding) => boolean): void {
    for (const [key, one] of this.#known) if (is(one)) this.#wake(key);
  }
}
