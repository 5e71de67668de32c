import { clipped as cut, type Line, withoutTrailingSpaces } from '../../src/cli/painted.ts';

/** A line of at most so many columns, without trailing spaces: what doesn't fit ends in an ellipsis. */
export function clipped(whole: Line, columns: number): Line {
  return columns > 0 ? cut(withoutTrailingSpaces(whole), columns) : [];
}
