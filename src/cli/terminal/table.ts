import { type Line, line, piece, widthOf } from './colour.ts';

const gap = '  ';

/** Columns as wide as their widest cell, below dim titles. */
export function table(titles: readonly string[], rows: readonly (readonly Line[])[], indent = ''): readonly Line[] {
  const all = [titles.map((title) => line(title, 'dim')), ...rows];
  const widths = titles.map((_, index) => all.reduce((widest, row) => Math.max(widest, widthOf(row[index] ?? [])), 0));
  return all.map((row) => [
    piece(indent),
    ...row.flatMap((cell, index) => [...cell, piece(' '.repeat((widths[index] ?? 0) - widthOf(cell))), piece(gap)]),
  ]);
}
