import type { Failure, FileResult } from './messages.ts';

const silenceMilliseconds = 30_000;

/**
 * Shows each file when it is done, the running files if there was no output for a while, and all failures at the end.
 */
export class Progress {
  readonly #total: number;
  readonly #seed: number;
  readonly #running = new Map<string, number>();
  readonly #failures: { readonly file: string; readonly failure: Failure }[] = [];
  #done = 0;
  #passed = 0;
  #skipped = 0;
  readonly #leftOut = new Set<string>();
  #timer: NodeJS.Timeout | null = null;

  constructor(total: number, seed: number) {
    this.#total = total;
    this.#seed = seed;
  }

  started(file: string): void {
    this.#running.set(file, performance.now());
    this.#timer ??= this.#startTimer();
  }

  /** Returns how many milliseconds the file took. */
  finished(file: string, { passed, skipped, leftOut, failures }: FileResult, output: string): number {
    const milliseconds = performance.now() - (this.#running.get(file) ?? performance.now());
    this.#running.delete(file);
    this.#done++;
    this.#passed += passed;
    this.#skipped += skipped;
    for (const sentence of leftOut) this.#leftOut.add(sentence);
    this.failed(file, failures);
    console.log(`[${this.#done}/${this.#total}] ${file} (${seconds(milliseconds)})${output.trimEnd()}`);
    this.#timer?.refresh();
    return milliseconds;
  }

  failed(file: string, failures: readonly Failure[]): void {
    for (const failure of failures) this.#failures.push({ file, failure });
  }

  passed(): void {
    this.#passed++;
  }

  /** Prints the closing lines. Returns whether everything that had to run has passed. */
  close(skippedCountAsFailed: boolean): boolean {
    clearInterval(this.#timer ?? undefined);
    for (const { file, failure } of this.#failures) {
      console.log(`\n✖ ${file}: ${failure.title}\n  ${failure.text}\n  SEED=${this.#seed} repeats it`);
    }
    if (this.#failures.length > 0) console.log('');
    for (const sentence of this.#leftOut) console.log(`left out: ${sentence}`);
    if (this.#skipped > 0) console.log(`${this.#skipped} skipped`);
    if (this.#passed === 0) console.log('no test was run');
    const failed = this.#failures.length + (skippedCountAsFailed ? this.#skipped : 0);
    console.log(`${this.#passed} passed, ${failed} failed`);
    return failed === 0 && this.#passed > 0;
  }

  #startTimer(): NodeJS.Timeout {
    return setInterval(() => {
      const running = [...this.#running].map(([file, since]) => `${file} (${seconds(performance.now() - since)})`);
      console.log(`[${this.#done}/${this.#total}] running: ${running.join(', ')}`);
    }, silenceMilliseconds).unref();
  }
}

function seconds(milliseconds: number): string {
  return `${(milliseconds / 1_000).toFixed(1)} s`;
}
