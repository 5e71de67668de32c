import { inspect } from 'node:util';
import { config } from 'chai';
import Mocha from 'mocha';
import { takeLeftOut } from '../../test/left-out.ts';
import { endRun } from '../../test/support/end-of-run.ts';
import '../../test/support/seed.ts';
import type { Answer, Failure, FileResult, Order, WorkerSettings } from './messages.ts';

// Runs test files one after another, as the runner tells it to. Resources that the files share are closed at the end of
// the process.

/** Far more than any test takes, so that none fails because the machine is slow. Tests have no limits of their own. */
const timeoutMilliseconds = 3 * 60 * 60_000;
/** Tests that take longer show their duration. */
const slowMilliseconds = 1_000;
const exitGraceMilliseconds = 10_000;

// A failure shows the actual value, not `[ Array(1) ]`.
config.truncateThreshold = 0;

const settings = JSON.parse(process.argv[2] ?? '{}') as WorkerSettings;

/** Mocha's reporter, without a summary after each file. */
class Reporter extends Mocha.reporters.Spec {
  override epilogue(): void {
    if (this.failures.length > 0) Mocha.reporters.Base.list(this.failures);
  }
}

process.on('message', (order: Order) => {
  switch (order.kind) {
    case 'run':
      void run(order.file).then((result) => answer({ kind: 'ran', ...result }));
      break;
    case 'end':
      void end();
      break;
  }
});
// If the runner is gone, nothing needs the results.
process.on('disconnect', () => process.exit(1));

async function run(file: string): Promise<FileResult> {
  const mocha = new Mocha({
    timeout: timeoutMilliseconds,
    slow: slowMilliseconds,
    reporter: Reporter,
    color: settings.color ?? false,
    forbidOnly: true,
    ...(settings.grep === undefined ? {} : { grep: settings.grep }),
  });
  mocha.addFile(file);
  try {
    await mocha.loadFilesAsync();
  } catch (error) {
    console.error(error);
    return { passed: 0, skipped: 0, leftOut: [], failures: [failure(`${file} can be loaded`, error)] };
  }
  return new Promise((resolve) => {
    let passed = 0;
    let skipped = 0;
    const failures: Failure[] = [];
    const runner = mocha.run(() => {
      runner.dispose();
      resolve({ passed, skipped, leftOut: takeLeftOut(), failures });
    });
    runner
      .on('pass', () => passed++)
      .on('pending', () => skipped++)
      .on('fail', (test, error: unknown) => failures.push(failure(test.fullTitle(), error)));
  });
}

async function end(): Promise<void> {
  const errors = await endRun();
  const failures = errors.map((error) => failure('what the test files share can be closed', error));
  setTimeout(failForLeftovers, exitGraceMilliseconds).unref();
  answer({ kind: 'ended', failures }, () => {
    process.removeAllListeners('disconnect');
    process.disconnect();
  });
}

/** Called only if a test has left something open that keeps the process alive. */
function failForLeftovers(): void {
  console.error(`tests have left something open: ${process.getActiveResourcesInfo().join(', ')}`);
  process.exit(1);
}

function failure(title: string, error: unknown): Failure {
  return { title, text: error instanceof Error ? (error.stack ?? error.message) : inspect(error) };
}

function answer(message: Answer, sent: () => void = () => undefined): void {
  process.send?.(message, undefined, {}, sent);
}
