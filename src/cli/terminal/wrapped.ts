import { type Line, type Piece, piece, widthOf } from './colour.ts';

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
