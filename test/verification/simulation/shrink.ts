import type { Scenario } from './draw.ts';
import type { Outcome } from './run.ts';

/** A failed run: a law was broken, or a rollout that could end did not. */
export function isFailure({ violations, stuck }: Outcome): boolean {
  return violations.length > 0 || stuck !== null;
}

/** The scenario with only these of its happenings, by their place in it. */
export function withOnly({ circumstances, plan }: Scenario, kept: readonly number[]): Scenario {
  return { circumstances, plan: plan.filter((_, index) => kept.includes(index)) };
}

/** The places of a scenario's happenings without which it would not fail any more: dropped one by one, until none can be. */
export async function shrink(
  scenario: Scenario,
  play: (scenario: Scenario) => Promise<Outcome>,
  kept = scenario.plan.map((_, index) => index),
): Promise<readonly number[]> {
  for (const index of kept) {
    const fewer = kept.filter((one) => one !== index);
    if (isFailure(await play(withOnly(scenario, fewer)))) return shrink(scenario, play, fewer);
  }
  return kept;
}
