import { glob, mkdir, readFile, writeFile } from 'node:fs/promises';
import { basename, resolve } from 'node:path';
import { Command } from 'commander';
import { withArguments } from '../program/run-program.ts';
import { explainedMutants, keyOf, listedIn } from './explained.ts';
import { findMutants } from './find-mutants.ts';
import type { Mutant, Result } from './mutant.ts';
import { refusedByCompiler } from './refused-by-compiler.ts';
import { count, difference, survivorsPage, table } from './report.ts';
import { runMutants, runUnchanged } from './run-mutants.ts';
import { sampleOf } from './sample.ts';

// Changes the sources in every small way that could matter, and checks whether a unit test of the same room fails.
// Covers all of src/core and src/plan, or a sample of all rooms.

/** The limit for surviving mutants. It is not 0, because there are too many mutants to examine every survivor. */
const mostSurvivingPercent = 5;
const timeoutFactor = 10;
const leastTimeoutMilliseconds = 10_000;
const minute = 60_000;
const survivorsFile = 'hack/mutate/survivors.md';

interface Options {
  readonly parallel: number;
  readonly properties: string;
  readonly sample?: number;
  readonly seed: number;
  readonly minutes: number;
}

const command = withArguments(
  new Command('hack/mutate/main.ts')
    .argument('[files...]', 'files in src (default: all of src/core and src/plan; with --sample, all of src)')
    .option('--parallel <number>', 'number of threads', Number, 2)
    .option('--properties <number>', 'number of runs of each property', '40')
    .option(
      '--sample <number>',
      `try only this many, plus those that ${survivorsFile} lists, and write that file`,
      Number,
    )
    .option('--seed <number>', 'seed that selects the sample', Number, Math.floor(Math.random() * 2 ** 31))
    .option('--minutes <number>', 'start no new mutant after this many minutes', Number, Number.POSITIVE_INFINITY),
);
const { parallel, properties, sample, seed, minutes } = command.opts<Options>();
// With one seed the tests draw the same every time, so a mutant always gets the same verdict.
process.env['PROPERTY_RUNS'] = properties;
process.env['SEED'] = '1';

const deadline = performance.now() + minutes * minute;
const rooms = sample === undefined ? '{core,plan}' : '*';
const files = command.args.length > 0 ? command.args : await sorted(`src/${rooms}/**/*.ts`);
const all = findMutants(files);
const listed = await listedIn(survivorsFile);
const mutants = sample === undefined ? all : sampleOf(all, { sample, seed, isListed: (one) => listed.has(keyOf(one)) });
const roomOf = (file: string): string => file.split('/')[1] ?? '';
const roomsTried = [...new Set(mutants.map(({ file }) => roomOf(file)))];
const data = { folders: ['src', 'test'].map((folder) => resolve(folder)) };

const testsOfRooms = new Map<string, readonly string[]>();
const millisecondsOf = new Map<string, number>();
for (const room of roomsTried) {
  const unchanged = await runUnchanged(await sorted(`test/${nearTo(room)}/**/*.test.ts`), data);
  const passed = [...unchanged].filter(([, { failed }]) => failed === null);
  for (const [test, { failed }] of unchanged) if (failed !== null) console.log(`Left out: ${test} (${failed})`);
  testsOfRooms.set(
    room,
    passed.toSorted(([, a], [, b]) => a.milliseconds - b.milliseconds).map(([test]) => test),
  );
  millisecondsOf.set(
    room,
    passed.reduce((sum, [, { milliseconds }]) => sum + milliseconds, 0),
  );
}
if (sample === undefined && [...testsOfRooms.values()].some((tests) => tests.length === 0)) {
  throw new Error('Expected the tests of src/core and src/plan to pass before mutants are tried');
}
console.log(`${mutants.length} mutants of ${files.length} files${sample === undefined ? '' : `, --seed ${seed}`}`);

/** The rooms with tests that apply to this room. Plans consist of decisions, so core and plan belong together. */
function nearTo(room: string): string {
  return room === 'core' || room === 'plan' ? '{core,plan}' : room;
}

/** The fastest tests first, except that those of the mutant's own file come before all others. */
function testsOf({ file }: Mutant): readonly string[] {
  const tests = testsOfRooms.get(roomOf(file)) ?? [];
  const own = `${basename(file, '.ts')}.test.ts`;
  return tests
    .toSorted((a, b) => Number(basename(b) === own) - Number(basename(a) === own))
    .map((test) => resolve(test));
}

const started = performance.now();
const limits = {
  parallel,
  timeoutMilliseconds: ({ file }: Mutant) =>
    Math.max(leastTimeoutMilliseconds, timeoutFactor * (millisecondsOf.get(roomOf(file)) ?? 0)),
  mostMilliseconds: deadline - started,
};
const tested = await runMutants(mutants, testsOf, data, limits, (_, done) => {
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
const unexplained = survivors.filter((mutant) => !isExplained(mutant));
console.log(`${unexplained.length} of the survivors are not explained in hack/mutate/README.md`);
console.log(`${percent.toFixed(1)} % survived, in ${Math.round(seconds)} s; written to .cache/mutate/results.json`);
if (results.length < mutants.length) {
  console.log(`${mutants.length - results.length} of ${mutants.length} were not tried within ${minutes} minutes`);
}
if (sample === undefined) {
  process.exitCode = percent > mostSurvivingPercent ? 1 : 0;
} else {
  const untried = mutants.slice(results.length).filter((mutant) => listed.has(keyOf(mutant)));
  const [head = ''] = (await readFile(survivorsFile, 'utf8')).split(/^(?=## )/m, 1);
  await writeFile(survivorsFile, survivorsPage(head, [...unexplained, ...untried]));
  console.log(`The survivors are in ${survivorsFile}: give each a test, or explain it in hack/mutate/README.md`);
}

async function sorted(pattern: string): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const file of glob(pattern)) found.push(file);
  return found.toSorted();
}
