import { decide } from '../core/decide.ts';
import type { Hold } from '../core/decision.ts';
import type { RolloutPolicy } from '../core/policy.ts';
import type { ClusterSnapshot } from '../core/snapshot.ts';
import { isSameWait } from './rollout-plan.ts';
import { afterStep, afterWait } from './simulated.ts';

/** The revision that a member comes back at, or what stops that: `null` if no revision is known that it had. */
export type Restoring =
  | { readonly revision: string; readonly stopsAt: null }
  | { readonly revision: null; readonly stopsAt: Hold | null };

/** More steps and waits than a restore needs. */
const mostDecisions = 24;

/**
 * Simulates until the member is restored that `policy.restore` names. Unlike in `plan`, steps count that are done while a
 * rule holds the rollout: setting what new pods come up at, and the restore itself.
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
