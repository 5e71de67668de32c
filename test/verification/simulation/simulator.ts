import { registerHooks } from 'node:module';
import { mistakes } from '../mistakes/catalogue.ts';
import { mistakeAt, projectRoot, replacement, withMistake } from '../mistakes/substitution.ts';
import type { draw } from './draw.ts';
import type { Outcome, run } from './run.ts';

let hooked = false;

/** Loads every module of this project that a mutated module imports again for the same mistake. */
function hook(): void {
  if (hooked) return;
  hooked = true;
  registerHooks({
    resolve: (specifier, context, next) => {
      const resolved = next(specifier, context);
      const name = mistakeAt(context.parentURL);
      const isOurs = resolved.url.startsWith(projectRoot.href) && !resolved.url.includes('/node_modules/');
      if (name === '' || !isOurs) return resolved;
      const url = replacement(name, context.parentURL ?? '', resolved.url) ?? withMistake(resolved.url, name);
      return { ...resolved, url };
    },
  });
}

export interface Simulator {
  readonly draw: typeof draw;
  readonly run: typeof run;
}

/** The simulation of a controller with that mistake. */
export async function simulatorOf(mistake: string): Promise<Simulator> {
  hook();
  const at = (file: string): string => withMistake(new URL(file, import.meta.url).href, mistake);
  const { draw } = (await import(at('./draw.ts'))) as Pick<Simulator, 'draw'>;
  const { run } = (await import(at('./run.ts'))) as Pick<Simulator, 'run'>;
  return { draw, run };
}

/** How many runs it takes until the witness objects, and its message; `null` if it never does. */
export async function runsUntilFound(
  mistake: string,
  mostRuns: number,
): Promise<{ readonly runs: number; readonly outcome: Outcome } | null> {
  const { draw, run } = await simulatorOf(mistake);
  for (let runs = 1; runs <= mostRuns; runs++) {
    const outcome = await run(draw(String(runs), mistakes[mistake]?.simulation));
    if (outcome.violations.length > 0) return { runs, outcome };
  }
  return null;
}
