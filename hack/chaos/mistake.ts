import { playChaos } from './chaos.ts';
import { drawActs } from './plan.ts';

export const mistakeVariable = 'MOCO_ROLLOUT_MISTAKE';

/** How long a rollout may take of a controller of which it is known that something is wrong. */
const patienceMilliseconds = 120_000;
const millisecondsEach = 240_000;
const preload = import.meta.resolve('./mistaken.ts');

/** Under OnDelete, which the mistakes are about. Prints a table of the controllers that are wrong on purpose, and of what chaos has to say about each. */
export async function playMistakes(
  mistakes: readonly string[],
  seed: string,
  rollouts: number,
  sideBySide: number,
): Promise<void> {
  const { NODE_OPTIONS: before = '' } = process.env;
  const acts = drawActs(seed, rollouts).filter(({ driver, flipsGate }) => driver === 'moco' && !flipsGate);
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
    console.log(`| ${name} | ${tally.rollouts} | ${said?.trim().replace(/^→ /, '') ?? 'nothing'} |`);
  }
  process.env['NODE_OPTIONS'] = before;
}
