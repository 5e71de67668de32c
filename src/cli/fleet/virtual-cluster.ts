import type { RolloutProgress, RolloutStatus } from '../../api/rollout-status.ts';
import type { ObservedFacts } from '../../controller/facts/collect-facts.ts';
import { maintenanceFacts } from '../../controller/facts/maintenance-facts.ts';
import { budgetOf } from '../../core/budget.ts';
import { decide } from '../../core/decide.ts';
import type { Decision, Hold } from '../../core/decision.ts';
import { kindsOf } from '../../core/effects.ts';
import { caughtUp, recovered } from '../../core/expected.ts';
import { needsSlot } from '../../core/gates.ts';
import type { RolloutPolicy } from '../../core/policy.ts';
import type { ClusterSnapshot } from '../../core/snapshot.ts';
import { milliseconds, omitUndefined, timestampOf } from '../../moco/json.ts';
import { measuredMemberSeconds } from '../../plan/estimate.ts';
import type { Span } from '../../plan/fleet-plan.ts';
import { isSameWait } from '../../plan/rollout-plan.ts';
import { afterStep, afterWait } from '../../plan/simulated.ts';
import { endsAt, isOutside, switchoverSeconds, takenBy, waitSeconds } from './member-times.ts';

/** What the other clusters mean for one of them. */
export type FleetFacts = Pick<ClusterSnapshot, 'fleetWaits' | 'fleetQueue' | 'fleetInterval'>;

/**
 * One cluster in virtual time. `decide` chooses every step from its facts and from those of the fleet; pods start, MOCO
 * does its part, and members take as long as expected. Nothing fails.
 */
export class VirtualCluster {
  readonly policy: RolloutPolicy;
  readonly revision: string;
  readonly memberSeconds: number;
  readonly measured: boolean;
  /** Whether it has a rollout to do. Otherwise others may still wait for it to become healthy. */
  readonly isStale: boolean;
  readonly spans: Span[] = [];
  /** When its first member was taken, in Unix seconds. */
  begunAt: number | null;
  /** When every member was seen at the revision, in Unix seconds. */
  endedAt: number | null = null;
  /** The hold that only a person can end. */
  stop: Hold | null = null;
  /** Whether it was complete and healthy at first. */
  readonly wasComplete: boolean;
  readonly #facts: ObservedFacts;
  readonly #startSeconds: number;
  #snapshot: ClusterSnapshot;
  #status: RolloutStatus;
  /** When the members that steps took are back and have been for minReadySeconds. */
  #back: readonly number[] = [];
  #busyUntil = 0;
  #waitedFor: Hold | null = null;
  #hasRecovered = false;
  #hold: { readonly hold: Hold; readonly from: number } | null = null;

  constructor(facts: ObservedFacts, nowSeconds: number) {
    const { snapshot, policy, objects, rollout, settings } = facts;
    const status = rollout?.status ?? {};
    const measured = measuredMemberSeconds(status);
    this.#facts = facts;
    this.#startSeconds = nowSeconds;
    this.#snapshot = caughtUp(snapshot);
    this.policy = policy;
    this.revision = objects.statefulSet?.updateRevision ?? '';
    this.measured = measured !== null;
    this.memberSeconds = Math.max(1, Math.round(measured ?? settings.maintenance.expectedMemberSeconds));
    const { stale, complete } = decide(this.#snapshot, policy);
    this.wasComplete = complete;
    this.isStale = stale > 0 || status.rollout?.revision === this.revision;
    this.#status = this.isStale
      ? statusAtFirst(status, this.revision, timestampOf(nowSeconds * 1000))
      : { ...status, updateRevision: this.revision };
    this.begunAt = secondsOf(this.#status.rollout?.begunAt);
  }

  /** What the other clusters see of it. */
  get status(): RolloutStatus {
    return this.#status;
  }

  /**
   * Does what can be done now. Returns when to look again, in Unix seconds; `null` if only other clusters change that.
   */
  pass(now: number, fleet: FleetFacts): number | null {
    if (this.endedAt !== null || this.stop !== null) return null;
    if (this.#verify(now)) return now;
    if (this.#busyUntil > now) return this.#busyUntil;
    const decision = decide(this.#at(now, fleet), this.#policyAt(now));
    const { step, hold } = decision;
    if (hold !== null) return this.#wait(hold, decision, fleet, now);
    this.#endHold(now);
    if (step.kind === 'none') return this.#end(decision, now);
    const free = this.#freeAt(decision, now);
    if (free > now) return free;
    this.#do(decision, now);
    return Math.max(now, this.#busyUntil);
  }

  /** Whether a member has come back, and shows that the revision works, since the last time. */
  #verify(now: number): boolean {
    const { rollout } = this.#status;
    if (rollout === undefined || rollout.verified || !this.#back.some((at) => at <= now)) return false;
    this.#status = { ...this.#status, rollout: { ...rollout, verified: true, verifiedAt: timestampOf(now * 1000) } };
    return true;
  }

  /** Nothing happens any more: what it waits for never ends. */
  close(now: number): void {
    if (this.#hold !== null) this.#stopAt(this.#hold.hold, now);
  }

  #wait(hold: Hold, decision: Decision, fleet: FleetFacts, now: number): number | null {
    const back = this.#lastBack;
    if (back > now) return back;
    if (this.#hold?.hold.rule !== hold.rule) {
      this.#endHold(now);
      this.#hold = { hold, from: now };
    } else {
      this.#hold = { ...this.#hold, hold };
    }
    this.#status = { ...this.#status, hold: { rule: hold.rule, message: '', since: timestampOf(now * 1000) } };
    if (isOutside(hold)) {
      if ('opensAt' in hold && hold.opensAt === null) this.#stopAt(hold, now);
      return endsAt(hold, fleet, now);
    }
    // A wait that remains after its expected end would never end.
    const after = isSameWait(hold, this.#waitedFor) ? null : afterWait(this.#snapshot, hold);
    if (after === null) {
      this.#stopAt(hold, now);
      return null;
    }
    this.#waitedFor = hold;
    this.#snapshot = caughtUp(after);
    this.#busyUntil = now + Math.ceil(waitSeconds(hold, decision, this.memberSeconds));
    return this.#busyUntil;
  }

  #stopAt(hold: Hold, now: number): void {
    this.#recordHold(now);
    this.stop = hold;
  }

  #endHold(now: number): void {
    if (this.#hold === null) return;
    this.#recordHold(now);
    const { hold: _, ...status } = this.#status;
    this.#status = status;
  }

  #recordHold(now: number): void {
    if (this.#hold !== null) this.spans.push({ what: this.#hold.hold.rule, from: this.#hold.from, until: now });
    this.#hold = null;
  }

  #end({ complete }: Decision, now: number): number | null {
    const back = this.#lastBack;
    if (back > now) return back;
    if (!complete && !this.#hasRecovered) {
      this.#hasRecovered = true;
      this.#snapshot = recovered(this.#snapshot);
      this.#busyUntil = now + this.memberSeconds;
      return this.#busyUntil;
    }
    this.endedAt = now;
    const { rollout: _, conditions: _conditions, ...status } = this.#status;
    this.#status = { ...status, completeSince: status.completeSince ?? timestampOf(now * 1000) };
    return null;
  }

  /** A step begins as soon as the members that earlier steps took leave room for it. */
  #freeAt(decision: Decision, now: number): number {
    const away = this.#back.filter((at) => at > now).toSorted((one, other) => one - other);
    const { replicas, primaryIndex } = this.#snapshot.cluster;
    const taken = takenBy(decision);
    const budget = budgetOf(this.policy.maxUnavailable, replicas, this.policy.partition);
    // Containers restart in one member at a time.
    const isInPlace = decision.effects.some(({ kind }) => kind === 'changesInPlace');
    const isReplica = taken.length > 0 && !taken.includes(primaryIndex) && !isInPlace;
    return (isReplica ? away[away.length - budget] : away.at(-1)) ?? now;
  }

  #do(decision: Decision, now: number): void {
    const { step } = decision;
    const after = afterStep(this.#snapshot, step);
    const isMoved = after.cluster.primaryIndex !== this.#snapshot.cluster.primaryIndex;
    const switchover = isMoved ? switchoverSeconds : 0;
    const rule = 'rule' in step ? step.rule : '';
    if (takenBy(decision).length > 0) {
      const back = now + switchover + this.memberSeconds + this.policy.minReadySeconds;
      this.#back = [...this.#back, back];
      this.#update(now, back);
    } else if (isMoved) {
      this.#busyUntil = now + switchover;
      this.#update(now, this.#busyUntil);
    }
    this.#waitedFor = null;
    this.#snapshot = caughtUp(after);
    const at = timestampOf(now * 1000);
    const effects = [...kindsOf(decision.effects)];
    if (this.begunAt === null && needsSlot(effects)) this.begunAt = now;
    const { conditions: _, members: _members, rollout, ...status } = this.#status;
    const begunAt = rollout?.begunAt ?? (this.begunAt === null ? undefined : at);
    this.#status = omitUndefined<RolloutStatus>({
      ...status,
      // A revision that fails allows no step.
      rollout: rollout && omitUndefined<RolloutProgress>({ ...rollout, begunAt, failing: undefined }),
      lastStep: { step: step.kind, rule, pods: [], at, result: 'done', effects },
    });
  }

  /** Updates that overlap are one. */
  #update(from: number, until: number): void {
    const last = this.spans.at(-1);
    if (last?.what === 'Updating' && last.until >= from) {
      this.spans[this.spans.length - 1] = { ...last, until: Math.max(last.until, until) };
    } else {
      this.spans.push({ what: 'Updating', from, until });
    }
  }

  get #lastBack(): number {
    return Math.max(0, ...this.#back);
  }

  #at(now: number, fleet: FleetFacts): ClusterSnapshot {
    const { settings, rollout } = this.#facts;
    const maintenance =
      this.policy.mode === 'MOCO' ? null : maintenanceFacts(settings.maintenance, rollout?.status ?? {}, now * 1000);
    return { ...this.#snapshot, ...fleet, maintenance };
  }

  /** Overrides end as time goes by. */
  #policyAt(now: number): RolloutPolicy {
    const elapsed = now - this.#startSeconds;
    const overrides = this.policy.overrides.map((one) => ({
      ...one,
      remainingSeconds: one.remainingSeconds - elapsed,
      startsInSeconds: (one.startsInSeconds ?? 0) - elapsed,
    }));
    return { ...this.policy, overrides };
  }
}

/**
 * The status once the controller has seen the revision: a rollout that was under way goes on, or another one begins.
 */
function statusAtFirst(
  { completeSince: _, rollout, ...status }: RolloutStatus,
  updateRevision: string,
  now: string,
): RolloutStatus {
  const same = rollout?.revision === updateRevision ? rollout : undefined;
  const begun = omitUndefined<RolloutProgress>({
    revision: updateRevision,
    startedAt: now,
    lastProgressAt: now,
    // The correction of a failing revision waits for no other cluster.
    begunAt: rollout?.failing !== undefined ? now : undefined,
    verified: false,
    takenDown: [],
    disruptions: 0,
    switchovers: 0,
  });
  return { ...status, updateRevision, rollout: same ?? begun };
}

function secondsOf(timestamp: string | undefined): number | null {
  const at = milliseconds(timestamp ?? null);
  return at === null ? null : Math.floor(at / 1000);
}
