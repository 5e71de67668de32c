/** Prints the sentence and the usage, and ends the process with exit code 2. */
export function refuse(usage: string, sentence: string): never {
  console.error(`${sentence}\n${usage}`);
  process.exit(2);
}

/** The value of a flag that takes a number from 1 to 999999999. Ends the process if it is another. */
export function wholeNumber(usage: string, flag: string, value: string): number {
  if (!/^[1-9]\d{0,8}$/.test(value)) refuse(usage, `expected ${flag} to be a whole number, got ${value}`);
  return Number(value);
}
