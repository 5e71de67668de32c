import type { Step } from '../../core/decision.ts';
import { promotionToRemember } from '../facts/promotion.ts';
import type { ClusterState } from '../memory/cluster-memory.ts';
import type { Observation } from '../pass/observe.ts';
import { writeStatus } from '../status/write-status.ts';
import { type Context, type Ended, requeueNow } from './context.ts';
import { act } from './execute.ts';

/**
 * Performs a step that does not disrupt a member. Its uid and resourceVersion are sufficient preconditions. A conflict
 * is not a failure: a newer object is about to reach the cache.
 */
export async function adjust(
  context: Context,
  observed: Observation,
  step: Step,
  identity: string,
  state: ClusterState,
  signal: AbortSignal,
): Promise<Ended> {
  const { api, world } = context;
  const promotion = promotionToRemember(observed, step);
  if (promotion && observed.rollout) {
    const status = { ...observed.rollout.status, promotion };
    await writeStatus(context, observed.rollout, status, state, 'disrupt', signal);
    return { requeue: requeueNow, report: null, result: null };
  }
  const acted = await act(step, observed.objects, api, world, signal);
  const result = { kind: 'acted', observation: observed, step, identity, intent: null, acted } as const;
  return { requeue: {}, report: 'cached', result };
}
