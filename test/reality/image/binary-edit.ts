/** Bytes of a program that are written over. Text is latin1: one character a byte. */
export interface Replacement {
  readonly from: string;
  /** At most as long; zeros fill the rest. */
  readonly to: string;
  /** How many times `from` has to be there. */
  readonly times: number;
}

/** A program is not the one that its edits were made for. */
export class UnknownProgram extends Error {}

/** A copy with every replacement made. Throws {@link UnknownProgram} where one of them is not there as often as it has to be. */
export function edited(program: string, bytes: Buffer, replacements: readonly Replacement[]): Buffer {
  const copy = Buffer.from(bytes);
  for (const { from, to, times } of replacements) {
    if (to.length > from.length) {
      throw new Error(`Expected a replacement of at most ${from.length} bytes, got ${JSON.stringify(to)}`);
    }
    const places = placesOf(copy, Buffer.from(from, 'latin1'));
    if (places.length !== times) {
      throw new UnknownProgram(
        `Expected ${program} to have ${JSON.stringify(from)} ${times} times, found it ${places.length} times`,
      );
    }
    const written = Buffer.from(to.padEnd(from.length, '\0'), 'latin1');
    for (const place of places) written.copy(copy, place);
  }
  return copy;
}

function placesOf(bytes: Buffer, part: Buffer): readonly number[] {
  const places: number[] = [];
  for (let at = bytes.indexOf(part); at !== -1; at = bytes.indexOf(part, at + part.length)) places.push(at);
  return places;
}
