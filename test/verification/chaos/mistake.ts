import { mistakes as catalogue } from '../mistakes/catalogue.ts';
import { mistakeVariable } from '../mistakes/substitution.ts';
import { playChaos } from './chaos.ts';
import { drawActs } from './plan.ts';

/** The time limit of a rollout by a controller with a seeded mistake. */
const patienceMilliseconds = 120_000;
const millisecondsEach = 240_000;
const preload = import.meta.resolve('../mistakes/preload.ts');

/**
 * Plays controllers with seeded mistakes under OnDelete, which the mistakes concern. Prints the findings for each, and
 * returns those that chaos should have detected and hasn't.
 */
export async function playMistakes(
  mistakes: readonly string[],
  seed: string,
  rollouts: number,
  sideBySide: number,
): Promise<readonly string[]> {
  const { NODE_OPTIONS: before = '' } = process.env;
  const acts = drawActs(seed, rollouts).filter(({ driver, flipsGate }) => driver === 'moco' && !flipsGate);
  const missed: string[] = [];
  console.log('| mistake | rollouts begun | what was said first |\n| --- | --- | --- |');
  for (const name of mistakes) {
    const lines: string[] = [];
    Object.assign(process.env, { NODE_OPTIONS: `${before} --import=${preload}`, [mistakeVariable]: name });
    const tally = await playChaos({
      seed,
      acts,
      disturbs: true,
      restartsMoco: true,
      sideBySide,
      milliseconds: millisecondsEach,
      patienceMilliseconds,
      endsAtFailure: true,
      onLine: (line) => lines.push(line),
    });
    const said = lines.find((line) => /^ {2}→ (violation|lost|\d)/.test(line)) ?? tally.defects[0]?.split('\n')[0];
    if (said === undefined && catalogue[name]?.chaos === true) missed.push(name);
    console.log(`| ${name} | ${tally.rollouts} | ${said?.trim().replace(/^→ /, '') ?? 'nothing'} |`);
  }
  process.env['NODE_OPTIONS'] = before;
  return missed;
}
