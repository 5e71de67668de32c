import { Interrupted, interruptedExitCode } from './interruption.ts';

export type Parsed<Options> =
  | { readonly kind: 'options'; readonly options: Options }
  | { readonly kind: 'help'; readonly text: string }
  /** One sentence for standard error; the exit status is 2. */
  | { readonly kind: 'usage-error'; readonly message: string };

/** The options that `read` returns, help if it returns `null`, and a usage error if it throws. */
export function parsed<Options>(help: () => string, read: () => Options | null): Parsed<Options> {
  try {
    const options = read();
    return options === null ? { kind: 'help', text: help() } : { kind: 'options', options };
  } catch (error) {
    return { kind: 'usage-error', message: error instanceof Error ? error.message : String(error) };
  }
}

/** Reads a number that may have these values. Throws a sentence for any other text. */
export function wholeNumber(flag: string, text: string, least: number, most: number): number {
  const value = text.trim() === '' ? Number.NaN : Number(text);
  if (Number.isInteger(value) && value >= least && value <= most) return value;
  throw new TypeError(`Expected ${flag} to have whole numbers from ${least} to ${most}, got \`${text}\`.`);
}

/** Reads numbers from 1 up in ascending order, such as `10,100`. Throws a sentence for any other text. */
export function ascendingNumbers(flag: string, text: string, most: number): readonly number[] {
  const numbers = text.split(',').map((part) => wholeNumber(flag, part, 1, most));
  if (numbers.every((number, index) => index === 0 || number > (numbers[index - 1] ?? 0))) return numbers;
  throw new TypeError(`Expected ${flag} to be numbers in ascending order, got \`${text}\`.`);
}

const failureExitCode = 1;
const usageExitCode = 2;

/**
 * Runs the program for the arguments, prints one sentence on failure, and ends this process even with open handles:
 * external processes are stopped by then, or by their guards.
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
