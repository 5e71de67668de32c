import { parentPort, workerData } from 'node:worker_threads';
import Mocha from 'mocha';
import '../../test/support/seed.ts';
import type { Mutant } from './mutant.ts';
import { MutatedModules } from './mutated-modules.ts';

/** The thread that runs the tests, once for each mutant that it receives. */
export interface WorkerData {
  readonly folders: readonly string[];
}

/**
 * A request to run these tests with the mutant, or with the original sources. The test that is most likely to fail
 * comes first.
 */
export interface Question {
  readonly mutant: Mutant | null;
  readonly tests: readonly string[];
}

/** The first test that failed, or `null` if the mutant survived. */
export type Answer = { readonly by: string | null };

const { folders } = workerData as WorkerData;
// Without this line, every thread would warn that stripTypeScriptTypes is experimental.
process.removeAllListeners('warning');
const modules = new MutatedModules(folders);

parentPort?.on('message', (question: Question) => {
  void answer(question).then((by) => parentPort?.postMessage({ by } satisfies Answer));
});

/** How many mutants each test has killed; the test with the most kills runs first. */
const kills = new Map<string, number>();

async function answer({ mutant, tests }: Question): Promise<string | null> {
  modules.use(mutant);
  for (const test of tests.toSorted((a, b) => (kills.get(b) ?? 0) - (kills.get(a) ?? 0))) {
    const failed = await firstFailure(test);
    if (failed === null) continue;
    kills.set(test, (kills.get(test) ?? 0) + 1);
    return failed;
  }
  return null;
}

async function firstFailure(test: string): Promise<string | null> {
  const mocha = new Mocha({ reporter: Mocha.reporters.Base, bail: true, timeout: 0, forbidOnly: true });
  try {
    // Mocha's own loader would find the file in the cache of `require`.
    mocha.suite.emit(Mocha.Suite.constants.EVENT_FILE_PRE_REQUIRE, globalThis, test, mocha);
    await import(modules.urlOf(test));
  } catch (error) {
    return `could not be loaded: ${error instanceof Error ? error.message : String(error)}`;
  }
  let failed: string | null = null;
  await new Promise<void>((ended) => {
    mocha
      .run(() => ended())
      .on('fail', (one: Mocha.Runnable) => {
        failed ??= one.fullTitle();
      });
  });
  mocha.dispose();
  return failed;
}
