export type Style = 'plain' | 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan' | 'magenta';

/** A piece of a line. Every character has to be one column wide. */
export interface Piece {
  readonly text: string;
  readonly style: Style;
}

export type Line = readonly Piece[];

const codes: Readonly<Record<Exclude<Style, 'plain'>, number>> = {
  bold: 1,
  dim: 2,
  red: 31,
  green: 32,
  yellow: 33,
  magenta: 35,
  cyan: 36,
};
const ellipsis = '…';

export function piece(text: string, style: Style = 'plain'): Piece {
  return { text, style };
}

export function widthOf(line: Line): number {
  return line.reduce((sum, { text }) => sum + text.length, 0);
}

export function withoutTrailingSpaces(line: Line): Line {
  const end = line.findLastIndex(({ text }) => text.trimEnd() !== '');
  return line.slice(0, end + 1).map(({ text, style }, index) => piece(index === end ? text.trimEnd() : text, style));
}

/** A line of at most so many columns, without trailing spaces: what doesn't fit ends in an ellipsis. */
export function clipped(whole: Line, columns: number): Line {
  const line = withoutTrailingSpaces(whole);
  if (widthOf(line) <= columns) return line;
  let left = columns - ellipsis.length;
  const kept: Piece[] = [];
  for (const { text, style } of line) {
    const part = text.slice(0, Math.max(0, left));
    left -= part.length;
    if (part !== '') kept.push(piece(part, style));
  }
  return columns > 0 ? [...kept, piece(ellipsis, 'dim')] : [];
}

/** As a terminal takes it. */
export function painted(line: Line, colour: boolean): string {
  return line
    .map(({ text, style }) => (colour && style !== 'plain' ? `\u001B[${codes[style]}m${text}\u001B[0m` : text))
    .join('');
}
