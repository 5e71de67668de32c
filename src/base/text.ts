import { StringDecoder } from 'node:string_decoder';

// Handles text that other programs and people have sent or written.

/**
 * The longest line. It is longer than any object that etcd accepts (1.5 MB by default), no matter how its text is
 * escaped.
 */
const longestLineCharacters = 64 * 1024 * 1024;

/**
 * The lines of a byte stream, no matter how it is split into chunks: a chunk may end in the middle of a line, or of a
 * character. Text after the last newline is dropped, because a broken connection has truncated it. Empty lines are
 * skipped.
 */
export async function* linesOf(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string, void, undefined> {
  // A TextDecoder is not used, because the strings that it returns for streams use two bytes for every character.
  const decoder = new StringDecoder('utf8');
  let pieces: string[] = [];
  let heldCharacters = 0;
  for await (const chunk of bytes) {
    const text = decoder.write(chunk);
    let start = 0;
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', start)) {
      pieces.push(text.slice(start, end));
      const line = pieces.length === 1 ? (pieces[0] ?? '') : pieces.join('');
      pieces = [];
      heldCharacters = 0;
      start = end + 1;
      if (line.trim() !== '') yield line;
    }
    if (start < text.length) {
      pieces.push(text.slice(start));
      heldCharacters += text.length - start;
    }
    if (heldCharacters > longestLineCharacters) {
      throw new RangeError(
        `expected lines of at most ${longestLineCharacters} characters, got ${heldCharacters} so far`,
      );
    }
  }
}

/**
 * A whole body as text. It is decoded chunk by chunk, so that a long body is not in memory twice. Rejects with a
 * `RangeError` if the body has more than `most` bytes.
 */
export async function textOf(
  chunks: AsyncIterable<Uint8Array> | null,
  most = Number.POSITIVE_INFINITY,
): Promise<string> {
  const decoder = new StringDecoder('utf8');
  let text = '';
  let bytes = 0;
  for await (const chunk of chunks ?? []) {
    bytes += chunk.length;
    // Leaving the loop closes the connection.
    if (bytes > most) throw new RangeError(`expected at most ${most} bytes, got more`);
    text += decoder.write(chunk);
  }
  return text + decoder.end();
}

const separators = [',', '[', '{'];

/**
 * Whether a text, parsed as JSON, could contain more than `most` values. This is an upper bound, because separators in
 * strings are counted as well. The cost of parsing depends on the number of values: parsing 4 MiB of empty lists takes
 * a second, and parsing one string of 4 MiB takes a few milliseconds.
 */
export function mayHaveMoreValues(json: Buffer | string, most: number): boolean {
  let values = 0;
  for (const separator of separators) {
    for (let at = json.indexOf(separator); at !== -1 && values <= most; at = json.indexOf(separator, at + 1))
      values += 1;
  }
  return values > most;
}

/** The text parsed as JSON; `undefined` if it is invalid. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Truncates a text to a number of characters without splitting a character. An ellipsis marks the truncation. */
export function shortened(text: string, longest: number): string {
  if (text.length <= longest) return text;
  const characters = Array.from(text);
  return characters.length <= longest ? text : `${characters.slice(0, longest - 1).join('')}…`;
}

export const longestQuotedCharacters = 80;

/** An unexpected value, as text for a message. */
export const quoted = (value: unknown): string => JSON.stringify(value ?? null).slice(0, longestQuotedCharacters);

/**
 * Characters that control a terminal instead of being shown, except newline and tab. These are control characters, and
 * characters that are invisible or change the direction of the text (Unicode's Bidi_Control and Default_Ignorable),
 * which can make a text appear in a different order.
 */
/* oxlint-disable no-control-regex -- these patterns have to match control characters */
const obeyed =
  /[\u0000-\u0008\u000B-\u001F\u007F-\u009F\u00AD\u061C\u180E\u200B-\u200F\u2028-\u202E\u2060-\u206F\uFEFF\uFFF9-\uFFFB]|\uDB40[\uDC00-\uDFFF]/g;

/** Control sequences with parameters (CSI) and with a string (OSC), as in ECMA-48. */
const sequences = /\u001B\[[0-?]*[ -/]*[@-~]|\u001B\][^\u0007\u001B]*(?:\u0007|\u001B\\)/g;
/* oxlint-enable no-control-regex */

/**
 * Makes text from others safe for a terminal: removes escape sequences, and replaces every other control character with
 * a space. Node's own `stripVTControlCharacters` takes quadratic time: a minute for 200 KB of `ESC ] ;`.
 */
export const printable = (text: string): string => text.replaceAll(sequences, '').replaceAll(obeyed, ' ');

/** The text with these characters escaped, as in JSON and JavaScript. */
export const escaped = (text: string): string =>
  text.replaceAll(obeyed, (characters) =>
    Array.from({ length: characters.length }, (_, index) => characters.charCodeAt(index))
      .map((code) => `\\u${code.toString(16).padStart(4, '0')}`)
      .join(''),
  );
