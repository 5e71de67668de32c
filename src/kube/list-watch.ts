import { isObject, type Json } from '../base/json.ts';
import { jsonOf, longestQuotedCharacters, mayHaveMoreValues, quoted } from '../base/text.ts';
import type { ApiClient, CallOptions } from './api-client.ts';
import { isTooLarge } from './api-error.ts';
import { textsAt } from './json-outline.ts';
import { mostBytesOfPage, mostValuesOfObject, mostValuesOfPage } from './object-limits.ts';
import { metadataOf, type RawMetadata } from './raw-object.ts';
import { path, type ResourceKind } from './resource.ts';

// The responses of the API server to a list and to a watch.

/**
 * The reason why an object or an event from the API server is not in the cache. The set of reasons is closed, because
 * they are label values of a metric.
 */
export type DecodeFailureReason =
  /** An item of a list has no metadata. */
  | 'NotAnObject'
  /** A list or an object has a different kind than expected. */
  | 'AnotherKind'
  /** The projection of an object threw an error. */
  | 'NotProjected'
  /** A watch event has a type that this program does not know. */
  | 'UnknownEvent'
  /** A watch event is malformed or has no object. */
  | 'UnreadableEvent'
  /** An object has too many values. */
  | 'TooLarge';

/** Selects all objects of a kind, or only the objects in one namespace. */
export interface ListedKind {
  readonly kind: ResourceKind;
  readonly namespace?: string | undefined;
}

/** After a page that was too large, the next request asks for this many times fewer objects. */
const smallerPage = 4;

export interface ListPage {
  readonly items: readonly unknown[];
  /** The resourceVersion of the whole list. A watch that starts from this resourceVersion misses nothing. */
  readonly resourceVersion: string;
  readonly next: string | undefined;
}

/**
 * The pages of a list, one after another; `options` apply to each call. A page that is too large is requested again
 * with fewer objects, down to one, so no tenant can prevent a list with large objects. After some pages that fit, the
 * pages grow again. Without a `pageSize` the answer has no limit. Throws `ApiError`, and `TypeError` if an answer is
 * not a list of this kind.
 */
export async function* pagesOf(
  client: ApiClient,
  { kind, namespace }: ListedKind,
  pageSize: number | undefined,
  options: CallOptions,
): AsyncGenerator<ListPage, void, undefined> {
  const place = path(kind, { namespace });
  let limit = pageSize;
  let next: string | undefined;
  let fitting = 0;
  for (;;) {
    const query = { ...options.query, limit, continue: next };
    const call = { ...options, ...limitsOfPage(limit), method: 'GET', path: place, query } as const;
    const answer = await client.call<unknown>(call).catch((error: unknown) => {
      if (limit === undefined || limit === 1 || !isTooLarge(error)) throw error;
      return null;
    });
    if (answer === null) {
      limit = Math.max(1, Math.floor((limit ?? 1) / smallerPage));
      fitting = 0;
      continue;
    }
    const page = parseListPage(answer, place, `${kind.kind}List`);
    yield page;
    ({ next } = page);
    if (next === undefined) return;
    fitting += 1;
    if (limit !== undefined && pageSize !== undefined && fitting % smallerPage === 0) {
      limit = Math.min(pageSize, limit * smallerPage);
    }
  }
}

/** A page of one object has no limit on its values: the text of a single object may contain more separators. */
function limitsOfPage(limit: number | undefined): Pick<CallOptions, 'mostBytes' | 'mostValues'> {
  return {
    mostBytes: limit === undefined ? Number.POSITIVE_INFINITY : mostBytesOfPage,
    mostValues: limit === undefined || limit === 1 ? Number.POSITIVE_INFINITY : mostValuesOfPage,
  };
}

function parseListPage(answer: unknown, place: string, expected: string): ListPage {
  const list: Json = isObject(answer) ? answer : {};
  const metadata = isObject(list['metadata']) ? list['metadata'] : {};
  const { resourceVersion, continue: next } = metadata;
  // Go encodes a list without items as null.
  const items = list['items'] ?? [];
  if (!Array.isArray(items) || typeof resourceVersion !== 'string' || list['kind'] !== expected) {
    throw new TypeError(`expected a ${expected} at ${place}, got ${quoted(list['kind'] ?? typeof answer)}`);
  }
  return { items, resourceVersion, next: typeof next === 'string' && next !== '' ? next : undefined };
}

export type WatchEvent =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: Json; readonly resourceVersion: string }
  /** `endsList` marks the end of a streamed list: the server has sent everything that existed when the list began. */
  | { readonly type: 'BOOKMARK'; readonly resourceVersion: string; readonly endsList: boolean }
  /** The server ends the watch, and sends a Status with the reason. */
  | { readonly type: 'ERROR'; readonly status: unknown }
  /** The object has too many values, so it is not parsed. */
  | { readonly type: 'TOO_LARGE'; readonly metadata: RawMetadata; readonly resourceVersion: string }
  /** If `broken` is set, the line is not valid JSON, so it is unknown what was missed. */
  | {
      readonly type: 'UNREADABLE';
      readonly why: string;
      readonly reason: DecodeFailureReason;
      readonly broken: boolean;
    };

const endOfListAnnotation = 'k8s.io/initial-events-end';

export function parseWatchEvent(line: string): WatchEvent {
  if (mayHaveMoreValues(line, mostValuesOfObject)) return tooLargeEvent(line);
  const event = jsonOf(line);
  if (event === undefined) return unreadableEvent(`expected JSON, got ${line.slice(0, longestQuotedCharacters)}`, true);
  if (!isObject(event)) return unreadableEvent('expected an event, got something else', true);
  const { type, object } = event;
  switch (type) {
    case 'ERROR':
      return { type, status: object };
    case 'BOOKMARK': {
      const bookmark = bookmarkOf(object);
      if (bookmark !== null) return { type, ...bookmark };
      return unreadableEvent('expected a bookmark with a resourceVersion, got none', false);
    }
    case 'ADDED':
    case 'MODIFIED':
    case 'DELETED': {
      const metadata = metadataOf(object);
      if (isObject(object) && metadata) return { type, object, resourceVersion: metadata.resourceVersion };
      return unreadableEvent(`expected ${type} with an object, got one without metadata`, false);
    }
    default:
      return {
        type: 'UNREADABLE',
        why: `expected a kind of event, got ${quoted(type)}`,
        reason: 'UnknownEvent',
        broken: false,
      };
  }
}

function tooLargeEvent(line: string): WatchEvent {
  const why = `expected an object of at most ${mostValuesOfObject} values, got more`;
  if (!(textsAt(line, [])['type'] ?? '').match(/^(ADDED|MODIFIED|DELETED)$/)) return unreadableEvent(why, true);
  const metadata = metadataOf({ metadata: textsAt(line, ['object', 'metadata']) });
  if (metadata === null) return unreadableEvent(why, true);
  return { type: 'TOO_LARGE', metadata, resourceVersion: metadata.resourceVersion };
}

function unreadableEvent(why: string, broken: boolean): WatchEvent {
  return { type: 'UNREADABLE', why, reason: 'UnreadableEvent', broken };
}

/**
 * The object of a bookmark contains only its resourceVersion, and an annotation if the bookmark ends a streamed list.
 */
function bookmarkOf(object: unknown): { readonly resourceVersion: string; readonly endsList: boolean } | null {
  const metadata = isObject(object) ? object['metadata'] : null;
  if (!isObject(metadata)) return null;
  const { resourceVersion, annotations } = metadata;
  if (typeof resourceVersion !== 'string' || resourceVersion === '') return null;
  const endsList = isObject(annotations) && annotations[endOfListAnnotation] === 'true';
  return { resourceVersion, endsList };
}
