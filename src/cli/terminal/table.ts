import { type Line, line, type Piece, piece, widthOf } from './colour.ts';

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

/** A label, and beside it a text that goes on below itself where a line has no more room. */
export function wrapped(
  label: readonly Piece[],
  text: string,
  columns: number,
  style: Piece['style'] = 'plain',
): readonly Line[] {
  const indent = widthOf(label);
  const room = Math.max(shortestRoom, columns - indent);
  const lines: string[] = [];
  for (const word of piece(text).text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= room) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines.map((one, index): Line => [...(index === 0 ? label : [piece(' '.repeat(indent))]), piece(one, style)]);
}

/** A label that leaves less room than this is wider than any terminal that people use. */
const shortestRoom = 20;
