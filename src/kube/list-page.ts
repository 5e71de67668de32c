import { isRawObject, type RawObject } from './raw-object.ts';

const longestQuotedCharacters = 80;

/** One page of a list. */
export interface ListPage {
  readonly items: readonly unknown[];
  /** Of the whole list: a watch from here misses nothing. */
  readonly resourceVersion: string;
  /** The token of the next page, if there is one. */
  readonly next: string | undefined;
}

/** Throws `TypeError` where the answer isn't a list, or one of another kind than `kind`. */
export function parseListPage(answer: unknown, what: string, kind: string | undefined): ListPage {
  const list: RawObject = isRawObject(answer) ? answer : {};
  const metadata = isRawObject(list['metadata']) ? list['metadata'] : {};
  const { resourceVersion, continue: next } = metadata;
  // Go writes a list without any item as null.
  const items = list['items'] ?? [];
  const isList = kind === undefined ? String(list['kind']).endsWith('List') : list['kind'] === `${kind}List`;
  if (!Array.isArray(items) || typeof resourceVersion !== 'string' || !isList) {
    const came = JSON.stringify(list['kind'] ?? typeof answer).slice(0, longestQuotedCharacters);
    throw new TypeError(`expected a ${kind ?? ''}List at ${what}, got ${came}`);
  }
  return { items, resourceVersion, next: typeof next === 'string' && next !== '' ? next : undefined };
}
