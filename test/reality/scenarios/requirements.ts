import { type Parsed, runProgram } from '../../../hack/bench/program/run-program.ts';
import { Unavailable } from '../bed.ts';
import { whatIsMissing } from '../requirements.ts';

const cannotRunExitCode = 2;

/** Runs it on a machine that can: where something is missing it says what, and ends with status 2. */
export async function runWhereItCan<Options>(
  asked: Parsed<Options>,
  members: number,
  run: (options: Options) => Promise<void>,
): Promise<void> {
  const missing = asked.kind === 'options' ? await whatIsMissing(members) : null;
  await runProgram(missing === null ? asked : { kind: 'usage-error', message: missing }, async (options) => {
    try {
      await run(options);
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error;
      process.stderr.write(`${error.message}\n`);
      process.exit(cannotRunExitCode);
    }
  });
}
