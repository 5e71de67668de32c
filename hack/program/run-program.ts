import { type Command, InvalidArgumentError } from 'commander';
import { Interrupted, interruptedExitCode } from './interruption.ts';

const failureExitCode = 1;
const usageExitCode = 2;

/** Parses a whole number within these limits. */
export const wholeNumber =
  (least: number, most: number) =>
  (text: string): number => {
    const value = text.trim() === '' ? Number.NaN : Number(text);
    if (Number.isInteger(value) && value >= least && value <= most) return value;
    throw new InvalidArgumentError(`Expected whole numbers from ${least} to ${most}.`);
  };

/** Parses positive numbers in ascending order, such as `10,100`. */
export const ascendingNumbers =
  (most: number) =>
  (text: string): readonly number[] => {
    const numbers = text.split(',').map(wholeNumber(1, most));
    if (numbers.every((number, index) => index === 0 || number > (numbers[index - 1] ?? 0))) return numbers;
    throw new InvalidArgumentError('Expected numbers in ascending order.');
  };

/**
 * Parses the arguments of this process. Exits after printing the help, or with status 2 if the arguments are invalid.
 */
export function withArguments(command: Command): Command {
  return command.exitOverride(({ exitCode }) => process.exit(exitCode === 0 ? 0 : usageExitCode)).parse();
}

/**
 * Runs the program, prints one sentence on failure, and ends this process even if handles are open. External processes
 * have ended by then, or their guards end them.
 *
 * @param run its parameter has the type of the command's options
 */
export async function runProgram(command: Command, run: (options: never) => Promise<void>): Promise<never> {
  const options = withArguments(command).opts<never>();
  try {
    await run(options);
    process.exit(0);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(error instanceof Interrupted ? interruptedExitCode : failureExitCode);
  }
}
