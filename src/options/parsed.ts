/** What became of the text of a flag. `expected` goes into "Expected `--flag` to be …". */
export type Parsed<T> = { readonly kind: 'value'; readonly value: T } | Unreadable;

export interface Unreadable {
  readonly kind: 'unreadable';
  readonly expected: string;
  /** What is shown of the text, if not all of it may be. */
  readonly got?: string;
}

export function value<T>(read: T): Parsed<T> {
  return { kind: 'value', value: read };
}

export function unreadable(expected: string): Unreadable {
  return { kind: 'unreadable', expected };
}
