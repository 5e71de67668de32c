import { draw } from '/work/h4/test/verification/simulation/draw.ts';
import { run } from '/work/h4/test/verification/simulation/run.ts';
import { Tally } from '/work/h4/test/verification/simulation/tally.ts';

const [from, to, ...themes] = process.argv.slice(2);
const tally = new Tally();
const another: string[] = [];
for (let seed = Number(from); seed <= Number(to); seed++) {
  const began = performance.now();
  const outcome = await run(draw(String(seed), themes));
  tally.add(outcome);
  const ms = Math.round(performance.now() - began);
  const bad = outcome.violations.length > 0 || outcome.stuck !== null;
  if (ms > 4000 || bad)
    console.log(
      seed,
      ms,
      outcome.steps,
      outcome.stuck,
      outcome.violations.slice(0, 3).map(({ law, text }) => `${law}: ${text}`),
    );
}
console.log(tally.situationLines.slice(-12).join('\n'));
console.log(tally.lossLine, tally.closingLine, tally.stuck);
console.log(
  JSON.stringify(['forceDelete', 'failPod', 'nodeGone', 'keepLost'].map((f) => [f, (tally.strikes as any)[f]])),
);
