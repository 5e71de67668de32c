import type { DecodeFailureReason } from './decode-failure.ts';
import { isRawObject, metadataOf, type RawObject } from './raw-object.ts';

/** One line of a watch. */
export type WatchEvent =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: RawObject; readonly resourceVersion: string }
  /** `endsList`: everything that existed when a streamed list began has been sent. */
  | { readonly type: 'BOOKMARK'; readonly resourceVersion: string; readonly endsList: boolean }
  /** The server gives the watch up; `status` is a Status. */
  | { readonly type: 'ERROR'; readonly status: unknown }
  /** `broken`: not even JSON, so that there is no telling what was missed. */
  | {
      readonly type: 'UNREADABLE';
      readonly why: string;
      readonly reason: DecodeFailureReason;
      readonly broken: boolean;
    };

const longestQuotedCharacters = 80;
const endOfListAnnotation = 'k8s.io/initial-events-end';

export function parseWatchEvent(line: string): WatchEvent {
  let event: unknown;
  try {
    event = JSON.parse(line);
  } catch {
    return unreadable(`expected JSON, got ${line.slice(0, longestQuotedCharacters)}`, true);
  }
  if (!isRawObject(event)) return unreadable('expected an event, got another value', true);
  const { type, object } = event;
  switch (type) {
    case 'ERROR':
      return { type, status: object };
    case 'BOOKMARK': {
      const bookmark = bookmarkOf(object);
      if (bookmark !== null) return { type, ...bookmark };
      return unreadable('expected a bookmark with a resourceVersion, got none', false);
    }
    case 'ADDED':
    case 'MODIFIED':
    case 'DELETED': {
      const metadata = metadataOf(object);
      if (isRawObject(object) && metadata) return { type, object, resourceVersion: metadata.resourceVersion };
      return unreadable(`expected ${type} with an object, got one without metadata`, false);
    }
    default:
      return {
        type: 'UNREADABLE',
        why: `expected a kind of event, got ${JSON.stringify(type ?? null).slice(0, longestQuotedCharacters)}`,
        reason: 'UnknownEvent',
        broken: false,
      };
  }
}

function unreadable(why: string, broken: boolean): WatchEvent {
  return { type: 'UNREADABLE', why, reason: 'UnreadableEvent', broken };
}

/** The object of a bookmark has nothing but its resourceVersion, and an annotation if it ends a streamed list. */
function bookmarkOf(object: unknown): { readonly resourceVersion: string; readonly endsList: boolean } | null {
  const metadata = isRawObject(object) ? object['metadata'] : null;
  if (!isRawObject(metadata)) return null;
  const { resourceVersion, annotations } = metadata;
  if (typeof resourceVersion !== 'string' || resourceVersion === '') return null;
  const endsList = isRawObject(annotations) && annotations[endOfListAnnotation] === 'true';
  return { resourceVersion, endsList };
}
