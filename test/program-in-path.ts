import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';

/** Where a program is: in PATH, else in one of `further` directories; `undefined` where it is nowhere. */
export function programInPath(name: string, ...further: readonly string[]): string | undefined {
  return [...(process.env['PATH'] ?? '').split(delimiter), ...further]
    .map((directory) => join(directory, name))
    .find(isExecutable);
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
