import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { differences } from '../test/config/least-rights.ts';
import { grantedRights } from '../test/config/rights.ts';
import { readRights, rightsFolderVariable } from '../test/support/control-plane/audit-rights.ts';
import { builtVariable } from '../test/support/programs.ts';
import { seed } from '../test/support/seed.ts';
import { Durations } from './tests/durations.ts';
import type { WorkerSettings } from './tests/messages.ts';
import { Progress } from './tests/progress.ts';
import { type Lane, phases, startsPrograms, testFiles } from './tests/test-files.ts';
import { WorkerProcess } from './tests/worker-process.ts';

// Runs test files in parallel. The last line is `N passed, N failed`. With `CI=true` skipped tests count as failed,
// because a test that was not run proves nothing. Tests draw random values from a seed that differs in each run. The
// first line and each failure show the seed. SEED=… repeats that run.

const usage = 'usage: hack/run-tests.ts [--unit] [--grep PATTERN] [FILE ...]';
const { values, positionals } = readArguments();
const files = positionals.length > 0 ? positionals : await testFiles(values.unit === true);
const isWhole = values.unit !== true && values.grep === undefined && positionals.length === 0;
const settings: WorkerSettings = {
  color: process.stdout.isTTY,
  ...(values.grep === undefined ? {} : { grep: values.grep }),
};
const temporary = await mkdtemp(join(tmpdir(), 'moco-rollout-tests-'));
const rightsFolder = isWhole ? await mkdtemp(join(tmpdir(), 'moco-rollout-rights-')) : null;
if (rightsFolder !== null) process.env[rightsFolderVariable] = rightsFolder;
// All processes share compiled code. Coverage needs the sources uncompiled.
if (process.env['NODE_V8_COVERAGE'] === undefined) process.env['NODE_COMPILE_CACHE'] ??= resolve('.cache/compiled');
if (files.some(startsPrograms)) process.env[builtVariable] = await buildPrograms();
const durations = await Durations.read('.cache/test-durations.json');
const progress = new Progress(files.length, seed);
let workersStarted = 0;
console.log(`SEED=${seed}`);

for (const lanes of await phases(files, availableParallelism())) {
  await runPhase(lanes);
}
// With `--grep` only a part of a file runs, which does not show how long the whole file takes.
if (values.grep === undefined) await durations.write();
if (rightsFolder !== null) await compareRights(rightsFolder);
await rm(temporary, { recursive: true });
process.exitCode = progress.close(process.env['CI'] === 'true') ? 0 : 1;

/** Builds as `make build` does, so that the tests run what is released. Resolves to the directory. */
async function buildPrograms(): Promise<string> {
  const directory = join(temporary, 'programs');
  await promisify(execFile)(process.execPath, ['hack/build.ts', directory]);
  return directory;
}

/**
 * Runs lanes in parallel. A lane that has finished lends its workers to the others, and last to those that give way:
 * they can use every core until the end.
 */
async function runPhase(lanes: readonly Lane[]): Promise<void> {
  const queues = lanes
    .map((one) => ({ ...one, waiting: durations.longestFirst(one.files) }))
    .toSorted((a, b) => Number(a.yields ?? false) - Number(b.yields ?? false));
  const runLane = async (own: (typeof queues)[number]): Promise<void> => {
    await Promise.all(
      Array.from({ length: own.workers }, async () => {
        for (const { waiting, yields = false } of [own, ...queues]) await work(waiting, yields);
      }),
    );
  };
  await Promise.all(queues.map(runLane));
}

/** Runs one worker after another until no file is left. A worker that ends early is replaced. */
async function work(waiting: string[], yields: boolean): Promise<void> {
  while (waiting.length > 0) {
    // A single file prints its output while it runs.
    const outputFile = files.length === 1 ? null : join(temporary, `${workersStarted++}.log`);
    const worker = new WorkerProcess(settings, outputFile);
    if (yields) worker.yield();
    for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
      progress.started(file);
      const result = await worker.run(file);
      durations.set(file, progress.finished(file, result, await worker.output()));
      if (!worker.isAlive) break;
    }
    if (worker.isAlive) progress.failed('at the end', await worker.end());
    const rest = await worker.output();
    if (rest !== '') console.log(rest);
  }
}

/** Unused and missing rights are known only once every test has run. */
async function compareRights(folder: string): Promise<void> {
  const title = 'the whole run has used every right that the roles grant, and asked for no other';
  const found = differences(await readRights(folder), await grantedRights());
  await rm(folder, { recursive: true });
  if (found.length === 0) progress.passed();
  else progress.failed('rights', [{ title, text: found.join('\n  ') }]);
  console.log(`  ${found.length === 0 ? '✔' : '✖'} ${title}`);
}

function readArguments() {
  try {
    return parseArgs({ options: { unit: { type: 'boolean' }, grep: { type: 'string' } }, allowPositionals: true });
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n${usage}`);
    process.exit(2);
  }
}
