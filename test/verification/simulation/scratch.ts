import { draw } from './draw.ts';
import { run } from './run.ts';
import { isFailure } from './shrink.ts';
import { Tally } from './tally.ts';

const [from = '1', to = '30', themes = 'inPlace'] = process.argv.slice(2);
const tally = new Tally();
const began = performance.now();
for (let seed = Number(from); seed <= Number(to); seed++) {
  try {
    const scenario = draw(String(seed), themes === '-' ? [] : themes.split(','));
    const outcome = await run(scenario);
    tally.add(outcome);
    if (isFailure(outcome))
      console.log(
        seed,
        JSON.stringify({
          v: outcome.violations.slice(0, 4),
          stuck: outcome.stuck,
          plan: scenario.plan.map((p) => [p.atMilliseconds, p.what]),
          inPlace: scenario.circumstances.inPlace,
        }),
      );
  } catch (error) {
    console.log(seed, 'broke', (error as Error).stack);
  }
}
console.log(
  tally.situationLines.join('\n'),
  tally.closingLine,
  JSON.stringify(tally.strikes.refuseResize),
  Math.round(performance.now() - began),
);
