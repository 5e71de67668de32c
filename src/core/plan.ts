import { decide } from './decide.ts';
import type { Hold, Step } from './decision.ts';
import { afterStep, afterWait, isReplacement } from './foreseen.ts';
import type { RolloutPolicy } from './policy.ts';
import type { ClusterSnapshot } from './snapshot.ts';

/** One line of a plan: a step, or a wait that is expected to end by itself. */
export type PlanEntry =
  | { readonly kind: 'step'; readonly step: Step }
  | { readonly kind: 'wait'; readonly hold: Hold }
  | { readonly kind: 'switchover'; readonly from: number; readonly to: number };

export interface Plan {
  readonly entries: readonly PlanEntry[];
  readonly switchovers: number;
  /** What the rollout can't get past without a person; `null` when it ends with every due member updated. */
  readonly stopsAt: Hold | null;
}

/** More than any rollout can take: a plan that is longer is cut there. */
const entriesPerMember = 12;

/**
 * Plays the rollout forward to its end, without a cluster: pods start, MOCO follows, budgets open, time passes. Waits
 * are in it where they come first; the steps are those that `decide` takes. Pure, and always ends.
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
    // A wait that its own end didn't lift would be waited for for ever.
    const after = hold === null ? afterStep(now, step) : isSameWait(hold, waitedFor) ? null : afterWait(now, hold);
    if (after === null) return { entries, switchovers, stopsAt: hold };
    entries.push(hold === null ? { kind: 'step', step } : { kind: 'wait', hold });
    waitedFor = hold;
    const [from, to] = [now.cluster.primaryIndex, after.cluster.primaryIndex];
    if (from !== to) {
      entries.push({ kind: 'switchover', from, to });
      switchovers++;
    }
    now = after;
  }
  return { entries, switchovers, stopsAt: decide(now, policy).hold };
}

/** Where somebody else replaces one member after the other, a wait for the next one is another wait. */
function isSameWait(hold: Hold, before: Hold | null): boolean {
  if (hold.rule !== before?.rule) return false;
  const next = (one: Hold): number | null =>
    one.rule === 'AwaitingMoco' ? one.partition : isReplacement(one) ? one.member : null;
  return next(hold) === next(before);
}
