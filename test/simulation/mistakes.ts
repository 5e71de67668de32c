import { registerHooks } from 'node:module';
import type { draw } from './draw.ts';
import type { Outcome, run } from './run.ts';

/** One module of the program that another one takes the place of. */
interface Substitution {
  /** Which module imports it, from the root of the project. */
  readonly importer: RegExp;
  readonly imported: RegExp;
  readonly substitute: string;
  /** What has to go wrong for it to show; without, anything. */
  readonly themes?: readonly string[];
}

const module = (file: string): URL => new URL(file, import.meta.url);
const decidesWrongly = (...themes: readonly string[]): Substitution => ({
  importer: /\/src\/controller\//,
  imported: /\/src\/core\/decide\.ts$/,
  substitute: import.meta.resolve('./mistakes/decides-wrongly.ts'),
  themes,
});
const api = (substitute: string, ...themes: readonly string[]): Substitution => ({
  importer: /\/src\/controller\/controller\.ts$/,
  imported: /\/src\/controller\/cluster-api\.ts$/,
  substitute,
  themes,
});

/**
 * Controllers that are wrong in one way each, made of the program's own modules with one of them replaced while they are
 * loaded: the program knows nothing of it. The simulation has to find each of them; that is how it is tested.
 */
export const mistakes: Readonly<Record<string, Substitution>> = {
  'drops the preconditions': api(import.meta.resolve('./mistakes/without-preconditions.ts'), 'orphans'),
  'skips the confirmation': api(import.meta.resolve('./mistakes/without-confirmation.ts'), 'blind'),
  'forgets what it has just done': {
    importer: /\/src\/controller\/gather\.ts$/,
    imported: /\/src\/controller\/own-writes\.ts$/,
    substitute: import.meta.resolve('./mistakes/without-expectations.ts'),
  },
  'skips the intent': {
    importer: /\/src\/controller\/disrupt\.ts$/,
    imported: /\/src\/controller\/write-status\.ts$/,
    substitute: import.meta.resolve('./mistakes/without-intent.ts'),
    themes: ['orphans'],
  },
  'trusts Healthy alone': decidesWrongly('members', 'moco'),
  'takes the index for the end of a switchover': decidesWrongly(),
  'deletes replicas while the primary is down': decidesWrongly('members', 'nodes'),
  'deletes instead of evicting': decidesWrongly(),
  'judges a pod by the grace period that it has at the end': {
    importer: /\/src\/controller\/cluster-state\.ts$/,
    imported: /\/src\/moco\/ages\.ts$/,
    substitute: import.meta.resolve('./mistakes/with-current-grace-period.ts'),
  },
  'counts ready instead of participating': decidesWrongly('nodes', 'moco'),
};

const parameter = 'mistake';
const ours = new URL('../../', import.meta.url).href;

let hooked = false;

/** Everything of this project that such a module imports is loaded anew for the same mistake. */
function hook(): void {
  if (hooked) return;
  hooked = true;
  registerHooks({
    resolve: (specifier, context, next) => {
      const resolved = next(specifier, context);
      const parent = context.parentURL === undefined ? null : new URL(context.parentURL);
      const name = parent?.searchParams.get(parameter);
      if (!parent || !name || !resolved.url.startsWith(ours) || resolved.url.includes('/node_modules/'))
        return resolved;
      const mistake = mistakes[name];
      const isReplaced = mistake?.importer.test(parent.pathname) === true && mistake.imported.test(resolved.url);
      const url = new URL(isReplaced ? mistake.substitute : resolved.url);
      url.searchParams.set(parameter, name);
      return { ...resolved, url: url.href };
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
  const at = (file: string): string => {
    const url = module(file);
    url.searchParams.set(parameter, mistake);
    return url.href;
  };
  const { draw } = (await import(at('./draw.ts'))) as Pick<Simulator, 'draw'>;
  const { run } = (await import(at('./run.ts'))) as Pick<Simulator, 'run'>;
  return { draw, run };
}

/** How many runs it takes until the witness objects, and what it says; `null` where it never does. */
export async function runsUntilFound(
  mistake: string,
  mostRuns: number,
): Promise<{ readonly runs: number; readonly outcome: Outcome } | null> {
  const { draw, run } = await simulatorOf(mistake);
  for (let runs = 1; runs <= mostRuns; runs++) {
    const outcome = await run(draw(String(runs), mistakes[mistake]?.themes));
    if (outcome.violations.length > 0) return { runs, outcome };
  }
  return null;
}
