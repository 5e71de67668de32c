import { decide } from '../core/decide.ts';
import type { Hold, Step } from '../core/decision.ts';
import { caughtUp } from '../core/expected.ts';
import type { RolloutPolicy } from '../core/policy.ts';
import type { ClusterSnapshot } from '../core/snapshot.ts';
import { afterStep, afterWait, isReplacement } from './simulated.ts';

/** One line of a plan: a step, or a wait that is expected to end by itself. */
export type PlanEntry =
  | { readonly kind: 'step'; readonly step: Step }
  | { readonly kind: 'wait'; readonly hold: Hold }
  | { readonly kind: 'switchover'; readonly from: number; readonly to: number };

export interface Plan {
  readonly entries: readonly PlanEntry[];
  readonly switchovers: number;
  /** The hold that only a person can end. `null` if the rollout ends with every due member updated. */
  readonly stopsAt: Hold | null;
}

/** More entries than any rollout needs. A longer plan is cut. */
const entriesPerMember = 12;

/**
 * Simulates the rollout to its end, without a cluster: pods start, MOCO follows, budgets open, time passes. The steps
 * are those of `decide`, and each wait is listed where it first occurs. Pure, and always ends.
 */
export function plan(snapshot: ClusterSnapshot, policy: RolloutPolicy): Plan {
  const entries: PlanEntry[] = [];
  const limit = entriesPerMember * (snapshot.cluster.replicas + 2);
  let now = snapshot;
  let switchovers = 0;
  let waitedFor: Hold | null = null;
  while (entries.length < limit) {
    const { step, hold } = decide(now, policy);
    if (step.kind === 'none' && hold === null) return { entries, switchovers, stopsAt: null };
    // A wait that remains after its expected end would never end.
    const after = hold === null ? afterStep(now, step) : isSameWait(hold, waitedFor) ? null : afterWait(now, hold);
    if (after === null) return { entries, switchovers, stopsAt: hold };
    entries.push(hold === null ? { kind: 'step', step } : { kind: 'wait', hold });
    waitedFor = hold;
    const [from, to] = [now.cluster.primaryIndex, after.cluster.primaryIndex];
    if (from !== to) {
      entries.push({ kind: 'switchover', from, to });
      switchovers++;
    }
    now = caughtUp(after);
  }
  return { entries, switchovers, stopsAt: decide(now, policy).hold };
}

/** Each wait for another program to replace the next member is a separate entry. */
export function isSameWait(hold: Hold, before: Hold | null): boolean {
  if (hold.rule !== before?.rule) return false;
  const next = (one: Hold): number | null =>
    one.rule === 'AwaitingMoco' ? one.partition : isReplacement(one) ? one.member : null;
  return next(hold) === next(before);
}

/** The revision that a member comes back at, or what stops that: `null` if no revision is known that it had. */
export type Restoring =
  | { readonly revision: string; readonly stopsAt: null }
  | { readonly revision: null; readonly stopsAt: Hold | null };

/** More steps and waits than a restore needs. */
const mostDecisions = 24;

/**
 * Simulates until the member is restored that `policy.restore` names. Unlike in `plan`, steps count that are done while
 * a rule holds the rollout: setting what new pods come up at, and the restore itself.
 */
export function restoring(snapshot: ClusterSnapshot, policy: RolloutPolicy, ordinal: number): Restoring {
  let now = snapshot;
  let waitedFor: Hold | null = null;
  for (let decisions = 0; decisions < mostDecisions; decisions += 1) {
    const { step, hold } = decide(now, policy);
    if (step.kind === 'restore' && step.targets.some((target) => target.ordinal === ordinal)) {
      return { revision: now.statefulSet?.currentRevision ?? '', stopsAt: null };
    }
    if (step.kind !== 'none') {
      now = afterStep(now, step);
      continue;
    }
    const after = hold === null || isSameWait(hold, waitedFor) ? null : afterWait(now, hold);
    // It fails because a person has asked for the restore, and no step follows.
    const isAsked = hold?.rule === 'UpdateRevisionFailing' && hold.evidence.kind === 'restored';
    if (after === null) return { revision: null, stopsAt: isAsked ? null : hold };
    waitedFor = hold;
    now = after;
  }
  return { revision: null, stopsAt: null };
}
