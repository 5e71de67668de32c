import { isRawObject, type RawObject } from './raw-object.ts';

/** One page of a list. */
export interface ListPage {
  readonly items: readonly unknown[];
  /** Of the whole list: a watch from there misses nothing. */
  readonly resourceVersion: string;
  /** The token of the next page, if there is one. */
  readonly next: string | undefined;
}

/** Throws `TypeError` where the answer isn't a list. */
export function parseListPage(answer: unknown, what: string): ListPage {
  const list: RawObject = isRawObject(answer) ? answer : {};
  const metadata = isRawObject(list['metadata']) ? list['metadata'] : {};
  const { resourceVersion, continue: next } = metadata;
  // Go writes a list without any item as null.
  const items = list['items'] ?? [];
  if (!Array.isArray(items) || typeof resourceVersion !== 'string' || !String(list['kind']).endsWith('List')) {
    throw new TypeError(`expected a list at ${what}, got ${JSON.stringify(list['kind'] ?? typeof answer)}`);
  }
  return { items, resourceVersion, next: typeof next === 'string' && next !== '' ? next : undefined };
}
