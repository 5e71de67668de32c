import { type Line, line, piece } from '../painted.ts';
import type { Difference } from './difference.ts';

/** A value in one line. */
export const inOneLine = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** What was, and what is, below the path of each field. */
export function differenceLines(all: readonly Difference[]): readonly Line[] {
  return all.flatMap(({ path, before, after }): readonly Line[] => [
    line(`  ${path}`, 'bold'),
    ...(before === undefined ? [] : [[piece('    - '), piece(inOneLine(before), 'red')]]),
    ...(after === undefined ? [] : [[piece('    + '), piece(inOneLine(after), 'green')]]),
  ]);
}
