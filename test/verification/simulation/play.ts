import { drawNamed, type Scenario } from './draw.ts';
import { type Outcome, run } from './run.ts';
import { isFailure, shrink, withOnly } from './shrink.ts';
import { replayLine, storyOf } from './story.ts';

/** One seed played. Plain data: it is sent from thread to thread. */
export interface Played {
  /** `null` if the simulation itself failed. */
  readonly outcome: Outcome | null;
  /** The report of a failure: the line that replays it, and its shortened story. */
  readonly failure: string | null;
}

export async function play(seed: string): Promise<Played> {
  try {
    const scenario = drawNamed(seed);
    const outcome = await run(scenario);
    return { outcome, failure: isFailure(outcome) ? await tell(seed, scenario) : null };
  } catch (error) {
    return { outcome: null, failure: `SEED=${seed} make simulate\n  → ${String(error)}` };
  }
}

async function tell(seed: string, scenario: Scenario): Promise<string> {
  const kept = await shrink(scenario, run);
  const short = withOnly(scenario, kept);
  return `${replayLine(seed, kept)}\n${storyOf(short, await run(short))}`;
}
