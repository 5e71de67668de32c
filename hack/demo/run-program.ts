import type { Parsed } from './arguments.ts';
import { Interrupted, interruptedExitCode } from './interruption.ts';

const failureExitCode = 1;
const usageExitCode = 2;

/**
 * Does what the arguments ask for, says in one sentence why where it can't be done, and ends this process, whatever is
 * still open: what has been started outside of it is ended by then, or by its guards.
 */
export async function runProgram<Options>(parsed: Parsed<Options>, run: (options: Options) => Promise<void>) {
  process.exit(await exitCodeOf(parsed, run));
}

async function exitCodeOf<Options>(parsed: Parsed<Options>, run: (options: Options) => Promise<void>): Promise<number> {
  switch (parsed.kind) {
    case 'help':
      process.stdout.write(parsed.text);
      return 0;
    case 'usage-error':
      process.stderr.write(`${parsed.message}\n`);
      return usageExitCode;
    case 'options':
      try {
        await run(parsed.options);
        return 0;
      } catch (error) {
        process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
        return error instanceof Interrupted ? interruptedExitCode : failureExitCode;
      }
  }
}
