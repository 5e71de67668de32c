import { mistakes } from '../mistakes/catalogue.ts';
import { loadWith } from '../mistakes/load.ts';
import type { draw } from './draw.ts';
import type { Outcome, run } from './run.ts';

export interface Simulator {
  readonly draw: typeof draw;
  readonly run: typeof run;
}

/** The simulation of a controller with that mistake. */
export async function simulatorOf(mistake: string): Promise<Simulator> {
  const { draw } = await loadWith<Pick<Simulator, 'draw'>>(mistake, import.meta.resolve('./draw.ts'));
  const { run } = await loadWith<Pick<Simulator, 'run'>>(mistake, import.meta.resolve('./run.ts'));
  return { draw, run };
}

/** How many runs it takes until the witness objects, and its message; `null` if it never does. */
export async function runsUntilFound(
  mistake: string,
  mostRuns: number,
): Promise<{ readonly runs: number; readonly outcome: Outcome } | null> {
  const { draw, run } = await simulatorOf(mistake);
  const { simulation: where = [], firstSeed = 1 } = mistakes[mistake] ?? {};
  for (let runs = 1; runs <= mostRuns; runs++) {
    const outcome = await run('plan' in where ? where : draw(String(firstSeed + runs - 1), where));
    if (outcome.violations.length > 0) return { runs, outcome };
  }
  return null;
}
