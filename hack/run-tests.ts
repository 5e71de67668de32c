import { glob, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import Mocha from 'mocha';
import { differences } from '../test/config/least-rights.ts';
import { grantedRights } from '../test/config/rights.ts';
import { readRights, rightsFolderVariable } from './control-plane/audit-rights.ts';

// Runs tests and closes on one line `N passed, N failed`. Skipped tests count as failed where CI is `true`: what has
// not been run has not been shown.

const usage = 'usage: hack/run-tests.ts [--unit] [--grep PATTERN] [FILE ...]';
const timeoutMilliseconds = 300_000;
/** Longer ones show how long they took. */
const slowMilliseconds = 1_000;
const exitGraceMilliseconds = 10_000;

const { values, positionals } = readArguments();
const files = positionals.length > 0 ? positionals : await testFiles(values.unit === true);
const isWhole = values.unit !== true && values.grep === undefined && positionals.length === 0;
const rightsFolder = isWhole ? await mkdtemp(join(tmpdir(), 'moco-rollout-rights-')) : null;
if (rightsFolder !== null) process.env[rightsFolderVariable] = rightsFolder;
const mocha = new Mocha({
  timeout: timeoutMilliseconds,
  slow: slowMilliseconds,
  reporter: 'spec',
  ...(process.stdout.isTTY ? {} : { color: false }),
  forbidOnly: true,
  ...(values.grep === undefined ? {} : { grep: values.grep }),
});
for (const file of files) mocha.addFile(file);
await mocha.loadFilesAsync();

let passed = 0;
let failed = 0;
let skipped = 0;
const runner = mocha.run(() => void close());
runner.on('pass', () => passed++);
runner.on('fail', () => failed++);
runner.on('pending', () => skipped++);

async function close(): Promise<void> {
  if (rightsFolder !== null) await compareRights(rightsFolder);
  const skippedFail = process.env['CI'] === 'true' ? skipped : 0;
  if (skipped > 0) console.log(`${skipped} skipped`);
  if (passed === 0) console.log('no test was run');
  console.log(`${passed} passed, ${failed + skippedFail} failed`);
  process.exitCode = failed + skippedFail > 0 || passed === 0 ? 1 : 0;
  setTimeout(failForLeftovers, exitGraceMilliseconds).unref();
}

/** Rights that nobody has used, and such as nobody has, only show once every test has run. */
async function compareRights(folder: string): Promise<void> {
  const found = differences(await readRights(folder), await grantedRights());
  await rm(folder, { recursive: true });
  console.log(
    `  ${found.length === 0 ? '✔' : '✖'} the whole run has used every right that the roles grant, and asked for no other`,
  );
  for (const sentence of found) console.log(`      ${sentence}`);
  if (found.length === 0) passed++;
  else failed++;
}

/** Runs only while something keeps the process alive that a test has not closed. */
function failForLeftovers(): void {
  console.error(`tests have left something open: ${process.getActiveResourcesInfo().join(', ')}`);
  console.log(`${passed} passed, ${failed + 1} failed`);
  process.exit(1);
}

function readArguments() {
  try {
    return parseArgs({
      options: { unit: { type: 'boolean' }, grep: { type: 'string' } },
      allowPositionals: true,
    });
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n${usage}`);
    process.exit(2);
  }
}

/** Those against the control plane or in a browser, the exploration of every state, and many simulated rollouts. */
function isLong(file: string): boolean {
  const folders = ['test/browser/', 'test/cluster/', 'test/explorer/', 'test/simulation/'];
  return folders.some((folder) => file.startsWith(folder));
}

/** Long ones come last: what fails fast is seen fast. */
async function testFiles(unitOnly: boolean): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const file of glob('test/**/*.test.ts')) found.push(file);
  const unit = found.filter((file) => !isLong(file)).toSorted();
  return unitOnly ? unit : [...unit, ...found.filter(isLong).toSorted()];
}
