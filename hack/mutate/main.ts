import { glob, mkdir, writeFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { Command } from 'commander';
import { withArguments } from '../program/run-program.ts';
import { explainedMutants } from './explained.ts';
import { findMutants } from './find-mutants.ts';
import type { Result } from './mutant.ts';
import { refusedByCompiler } from './refused-by-compiler.ts';
import { count, difference, table } from './report.ts';
import { runMutants, runUnchanged } from './run-mutants.ts';

// Changes src/core and src/plan in every small way that could matter, and checks whether one of their tests notices.

/** There are too many mutants to examine each survivor. */
const mostSurvivingPercent = 5;
const timeoutFactor = 10;
const leastTimeoutMilliseconds = 10_000;

const command = withArguments(
  new Command('hack/mutate/main.ts')
    .argument('[files...]', 'of src/core and src/plan; all without')
    .option('--parallel <number>', 'threads', Number, 2)
    .option('--properties <number>', 'runs of each property', '40'),
);
const values = command.opts<{ parallel: number; properties: string }>();
// Seeds for the tests: the same few runs every time, so that a mutant always gets the same verdict.
process.env['PROPERTY_RUNS'] = values.properties;
process.env['SEED'] = '1';

const files = command.args.length > 0 ? command.args : await sorted('src/{core,plan}/**/*.ts');
const tests = (await sorted('test/{core,plan}/**/*.test.ts')).toSorted((a, b) => Number(isLong(a)) - Number(isLong(b)));
const data = {
  tests: tests.map((test) => resolve(test)),
  folders: ['src/core', 'src/plan', 'test/core', 'test/plan'].map((folder) => resolve(folder)),
};
const mutants = findMutants(files);

const unchanged = await runUnchanged(data);
if (unchanged.failed !== null) {
  console.error(
    `The tests of src/core and src/plan have to pass before mutants are tried, and one fails: ${unchanged.failed}`,
  );
  process.exit(1);
}
const timeoutMilliseconds = Math.max(leastTimeoutMilliseconds, timeoutFactor * unchanged.milliseconds);
console.log(
  `${mutants.length} mutants of ${files.length} files; the tests take ${Math.round(unchanged.milliseconds)} ms`,
);

const started = performance.now();
const tested = await runMutants(mutants, data, { parallel: values.parallel, timeoutMilliseconds }, (_, done) => {
  if (process.stdout.isTTY) process.stdout.write(`\r${done} of ${mutants.length}`);
  else if (done % 200 === 0) console.log(`${done} of ${mutants.length}`);
});
const seconds = (performance.now() - started) / 1000;

const refused = refusedByCompiler(tested.filter(({ verdict }) => verdict === 'survived').map(({ mutant }) => mutant));
const results = tested.map(
  (result): Result => (refused.has(result.mutant) ? { ...result, verdict: 'refused' } : result),
);
const survivors = results.filter(({ verdict }) => verdict === 'survived').map(({ mutant }) => mutant);
const isExplained = await explainedMutants();
console.log(process.stdout.isTTY ? '\n' : '');
for (const mutant of survivors) {
  console.log(`${difference(mutant)}${isExplained(mutant) ? '\n  explained in hack/mutate/README.md' : ''}\n`);
}
console.log(table(results));

const { survived } = count(results);
const percent = (100 * survived) / results.length;
await mkdir('.cache/mutate', { recursive: true });
await writeFile('.cache/mutate/results.json', `${JSON.stringify({ seconds, results }, null, 2)}\n`);
const unexplained = survivors.filter((mutant) => !isExplained(mutant)).length;
console.log(`${unexplained} of the survivors are not explained in hack/mutate/README.md`);
console.log(`${percent.toFixed(1)} % survived, in ${Math.round(seconds)} s; written to .cache/mutate/results.json`);
process.exitCode = percent > mostSurvivingPercent ? 1 : 0;

async function sorted(pattern: string): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const file of glob(pattern)) found.push(file);
  return found.toSorted();
}

/** Tests that fail fast run first. */
function isLong(test: string): boolean {
  return /(properties|model|plan)\.test\.ts$/.test(test);
}
