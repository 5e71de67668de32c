import type { Chance } from '../../verification/simulation/chance.ts';
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

/** Turns that begin together: of each run those with the same number of members. */
export function roundsOf(scenarios: readonly Scenario[], runs: number): readonly (readonly Turn[])[] {
  const sizes = [...Map.groupBy(scenarios, ({ members }) => members).values()];
  return numbersOf(runs).flatMap((run) => sizes.map((size) => size.map((scenario) => turnOf(scenario, run, runs))));
}

/** So many, each drawn from all of them. */
export function randomTurnsOf(scenarios: readonly Scenario[], count: number, chance: Chance): readonly Turn[] {
  return numbersOf(count).map((number) => {
    const scenario = chance.pick(scenarios);
    return { scenario, name: `${number}-${scenario.slug}` };
  });
}

function numbersOf(runs: number): readonly number[] {
  return Array.from({ length: runs }, (_, index) => index + 1);
}

function turnOf(scenario: Scenario, run: number, runs: number): Turn {
  return { scenario, name: runs === 1 ? scenario.slug : `${scenario.slug}-run-${run}` };
}
