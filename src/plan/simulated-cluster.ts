import { decide } from '../core/decide.ts';
import type { Decision, Hold, Step } from '../core/decision.ts';
import { type EffectKind, kindsOf } from '../core/effects.ts';
import { caughtUp, recovered } from '../core/expected.ts';
import { afterSeconds, secondsUntil } from '../core/maintenance.ts';
import { budgetOf, type RolloutPolicy } from '../core/policy.ts';
import { assumedEnd, isForOthers } from '../core/rules/catalogue.ts';
import { everyAnswer } from '../core/rules/members.ts';
import { justRenewed } from '../core/rules/moco.ts';
import type { ClusterSnapshot, MaintenanceFacts } from '../core/snapshot.ts';
import { afterStep } from './after-step.ts';

// Simulates one cluster in virtual time, for plans. The decisions are real, and their outcomes are assumed.

/** How long MOCO is expected to take for a switchover. This is not measured for each cluster. */
export const switchoverSeconds = 10;

/** One entry of a plan. Times are seconds since the beginning of the plan. */
export type PlanEntry = { readonly begins: number; readonly ends: number } & (
  | {
      /** The step ends once the members that it replaces are back and have participated for minReadySeconds. */
      readonly kind: 'step';
      readonly step: Step;
      readonly effects: readonly EffectKind[];
      /** The members that the step makes unavailable for a while. */
      readonly taken: readonly number[];
    }
  | { readonly kind: 'wait'; readonly hold: Hold }
  | { readonly kind: 'switchover'; readonly from: number; readonly to: number }
);

/** How the other clusters of the fleet affect this cluster. */
export interface PlannedFleetFacts extends Pick<ClusterSnapshot, 'fleetWaits' | 'fleetQueue' | 'fleetInterval'> {
  /**
   * When time alone ends a wait for other clusters, in seconds since the beginning of the plan; `null` if it does not.
   */
  readonly endOf: (hold: Hold) => number | null;
}

/** The state of a cluster at the beginning of a plan. */
export interface Beginning {
  readonly snapshot: ClusterSnapshot;
  readonly policy: RolloutPolicy;
  /** How long a member is expected to be unavailable. */
  readonly memberSeconds: number;
  /**
   * The facts this many seconds after the beginning. By default the facts of the snapshot are used, which cover 30
   * days.
   */
  readonly maintenanceAt?: (seconds: number) => MaintenanceFacts | null;
  /** Whether the plan continues with steps that are allowed while a rule holds the rollout. */
  readonly stepsWhileHeld?: boolean;
}

/**
 * One cluster in virtual time. Plans advance only through this class. `decide` chooses every step from the cluster's
 * facts and, in a fleet, from the facts of the others. Pods are assumed to start, MOCO to do its part, and members to
 * take as long as expected. Nothing fails.
 */
export class SimulatedCluster {
  readonly entries: PlanEntry[] = [];
  hold: Hold | null = null;
  /** When the cluster had nothing left to do. */
  endedAt: number | null = null;
  /** The hold at which the plan stops, since only a person can end it. */
  stop: Hold | null = null;
  snapshot: ClusterSnapshot;
  readonly beginning: Beginning;
  #busyUntil = 0;
  /** The current wait. It survives a brief gap between holds. */
  #waitedFor: Hold | null = null;
  #hasRecovered = false;

  constructor(beginning: Beginning) {
    this.beginning = beginning;
    this.snapshot = beginning.snapshot;
  }

  /**
   * Does what can be done now. Returns the time of the next call; `null` if only other clusters can change something.
   */
  pass(now: number, fleet: PlannedFleetFacts | null = null): number | null {
    if (this.endedAt !== null || this.stop !== null) return null;
    if (this.#busyUntil > now) return this.#busyUntil;
    const decision = decide({ ...this.snapshot, ...fleet, maintenance: this.#maintenanceAt(now) }, this.#policyAt(now));
    const { step, hold } = decision;
    if (hold !== null && !(this.beginning.stepsWhileHeld && step.kind !== 'none')) {
      return this.#wait(hold, decision, fleet, now);
    }
    this.#endHold(now);
    if (step.kind === 'none') return this.#end(decision, now);
    const free = this.#freeAt(decision, now);
    if (free > now) return free;
    this.#do(decision, now);
    return Math.max(now, this.#busyUntil);
  }

  /** Nothing else happens in the fleet, so the wait of this cluster never ends. */
  close(now: number): void {
    if (this.stop !== null) return;
    this.stop = this.hold;
    this.#endHold(now);
  }

  #wait(hold: Hold, decision: Decision, fleet: PlannedFleetFacts | null, now: number): number | null {
    const back = this.#lastBack;
    if (back > now) return back;
    const isSame = isSameWait(hold, this.#waitedFor);
    const waitsForOthers = fleet !== null && isForOthers(hold.rule);
    // A wait that remains after its expected end would never end.
    const end = waitsForOthers || isSame ? null : assumedEnd(hold);
    const after = end?.facts(this.snapshot, hold) ?? null;
    if (!isSame) this.#endHold(now);
    this.hold = hold;
    this.#waitedFor = hold;
    if (!waitsForOthers && (end === null || after === null)) {
      this.stop = hold;
      return null;
    }
    if (!isSame) this.entries.push({ kind: 'wait', hold, begins: now, ends: now });
    if (waitsForOthers) return fleet.endOf(hold);
    this.#busyUntil = now + Math.ceil(this.#lasts(hold, decision, now));
    this.#become(after ?? this.snapshot, now);
    return this.#busyUntil;
  }

  #endHold(now: number): void {
    const at = this.entries.findLastIndex(({ kind }) => kind !== 'switchover');
    const last = this.entries[at];
    if (this.hold !== null && last?.kind === 'wait') this.entries[at] = { ...last, ends: now };
    this.hold = null;
  }

  /** How long a wait lasts. Some waits, such as the wait for a backup, are assumed to end at once. */
  #lasts(hold: Hold, { requeueAfterSeconds }: Decision, now: number): number {
    const maintenance = this.#maintenanceAt(now);
    const opensAt = 'opensAt' in hold ? hold.opensAt : null;
    const seconds = {
      member: this.beginning.memberSeconds,
      switchover: switchoverSeconds,
      requeue: requeueAfterSeconds ?? 0,
      opening: maintenance === null || opensAt === null ? 0 : secondsUntil(maintenance, opensAt),
      moment: 0,
    };
    return seconds[assumedEnd(hold)?.lasts ?? 'moment'];
  }

  #end({ complete }: Decision, now: number): number | null {
    const back = this.#lastBack;
    if (back > now) return back;
    if (!complete && !this.#hasRecovered) {
      this.#hasRecovered = true;
      this.snapshot = recovered(this.snapshot);
      this.#busyUntil = now + this.beginning.memberSeconds;
      return this.#busyUntil;
    }
    this.endedAt = now;
    return null;
  }

  /** When the step can begin. Members that earlier steps made unavailable use up the budget until they are back. */
  #freeAt(decision: Decision, now: number): number {
    const { maxUnavailable, partition } = this.beginning.policy;
    const { replicas, primaryIndex } = this.snapshot.cluster;
    const away = this.#back.filter((at) => at > now).toSorted((one, other) => one - other);
    const taken = takenBy(decision);
    // Containers are restarted in one member at a time.
    const isInPlace = decision.effects.some(({ kind }) => kind === 'changesInPlace');
    const isReplica = taken.length > 0 && !taken.includes(primaryIndex) && !isInPlace;
    const budget = budgetOf(maxUnavailable, replicas, partition);
    return (isReplica ? away[away.length - budget] : away.at(-1)) ?? now;
  }

  #do(decision: Decision, now: number): void {
    const { memberSeconds, policy } = this.beginning;
    const { step } = decision;
    const taken = takenBy(decision);
    const after = afterStep(this.snapshot, step);
    const moves = after.cluster.primaryIndex === this.snapshot.cluster.primaryIndex ? 0 : switchoverSeconds;
    const ends = now + moves + (taken.length > 0 ? memberSeconds + policy.minReadySeconds : 0);
    if (taken.length === 0 && moves > 0) this.#busyUntil = ends;
    this.entries.push({ kind: 'step', step, effects: kindsOf(decision.effects), taken, begins: now, ends });
    this.#waitedFor = null;
    this.#become(after, now);
  }

  #become(after: ClusterSnapshot, now: number): void {
    const [from, to] = [this.snapshot.cluster.primaryIndex, after.cluster.primaryIndex];
    if (from !== to) this.entries.push({ kind: 'switchover', from, to, begins: now, ends: now + switchoverSeconds });
    this.snapshot = { ...caughtUp(after), memberAnswers: everyAnswer(after.members), moco: justRenewed(after.moco) };
  }

  /** The times at which unavailable members are back, one for each step that made some unavailable. */
  get #back(): readonly number[] {
    return this.entries.flatMap((entry) => (entry.kind === 'step' && entry.taken.length > 0 ? [entry.ends] : []));
  }

  get #lastBack(): number {
    return Math.max(0, ...this.#back);
  }

  #maintenanceAt(now: number): MaintenanceFacts | null {
    const { maintenanceAt, snapshot } = this.beginning;
    if (maintenanceAt !== undefined) return maintenanceAt(now);
    return snapshot.maintenance && afterSeconds(snapshot.maintenance, now);
  }

  /**
   * Overrides end as time passes. A pause does not end, because the settings that would follow it are not known here.
   */
  #policyAt(now: number): RolloutPolicy {
    const { policy } = this.beginning;
    const overrides = policy.overrides.map((one) => ({
      ...one,
      remainingSeconds: one.remainingSeconds - now,
      startsInSeconds: (one.startsInSeconds ?? 0) - now,
    }));
    return { ...policy, overrides };
  }
}

/**
 * Whether a wait continues: the rule is the same, and so is the member that another program is about to replace, if
 * any.
 */
function isSameWait(hold: Hold, before: Hold | null): boolean {
  return hold.rule === before?.rule && replacedBy(hold) === replacedBy(before);
}

/** The member that another program is about to replace. */
function replacedBy(hold: Hold): number | null {
  if (hold.rule === 'AwaitingMoco') return hold.partition;
  return hold.rule === 'UpdatedMemberNotParticipating' && hold.wait.for === 'revision' ? hold.member : null;
}

/** Whether another program replaces a member while the hold lasts. */
export const isReplacement = (hold: Hold): boolean => replacedBy(hold) !== null;

const absences: ReadonlySet<EffectKind> = new Set(['removes', 'leavesService']);

/**
 * The members that a step makes unavailable for a while. A demotion makes none unavailable: the update that follows
 * does.
 */
function takenBy({ step, effects }: Pick<Decision, 'step' | 'effects'>): readonly number[] {
  if (step.kind === 'demote') return [];
  const taken = effects.flatMap(({ kind, member }) => (absences.has(kind) && member !== null ? [member.ordinal] : []));
  return [...new Set(taken)];
}
