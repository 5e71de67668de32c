import { draw } from '/work/h4/test/verification/simulation/draw.ts';
import { run } from '/work/h4/test/verification/simulation/run.ts';

const [from, to, ...themes] = process.argv.slice(2);
for (let seed = Number(from); seed <= Number(to); seed++) {
  const began = performance.now();
  const outcome = await run(draw(String(seed), themes));
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
console.log('done');
