import type { Scenario } from './scenario.ts';

/** A scenario that is played under a name of its own. */
export interface Turn {
  readonly scenario: Scenario;
  readonly name: string;
}

/** Each run contains all of them, so that a slow hour of the machine affects all of them. */
export function turnsOf(scenarios: readonly Scenario[], runs: number): readonly Turn[] {
  return numbersOf(runs).flatMap((run) => scenarios.map((scenario) => turnOf(scenario, run, runs)));
}

function numbersOf(runs: number): readonly number[] {
  return Array.from({ length: runs }, (_, index) => index + 1);
}

function turnOf(scenario: Scenario, run: number, runs: number): Turn {
  return { scenario, name: runs === 1 ? scenario.slug : `${scenario.slug}-run-${run}` };
}
