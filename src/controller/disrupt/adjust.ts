import type { Step } from '../../core/decision.ts';
import { promotionToRemember } from '../facts/promotion.ts';
import { again, type End } from '../pass/end.ts';
import type { Observation } from '../pass/observe.ts';
import type { Pass } from '../pass/pass.ts';
import { writeStatus } from '../status/write-status.ts';
import type { ClusterApi } from './cluster-client.ts';
import { act } from './execute.ts';

/**
 * Performs a step that does not disrupt a member. Its uid and resourceVersion are sufficient preconditions. A conflict
 * is not a failure: a newer object is about to reach the cache.
 */
export async function adjust(pass: Pass<ClusterApi>, observation: Observation, step: Step): Promise<End> {
  const { objects, rollout } = observation;
  const promotion = promotionToRemember(observation, step);
  if (promotion && rollout) {
    await writeStatus(pass, rollout, { ...rollout.status, promotion }, 'disrupt');
    return { kind: 'nothing', ...again };
  }
  const answer = await act(step, objects, pass.api, pass.context.world);
  return { kind: 'acted', report: 'cached', observation, step, intent: null, ...answer };
}
