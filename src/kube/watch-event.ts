import type { DecodeFailureReason } from './decode-failure.ts';
import { isRawObject, metadataOf, type RawObject } from './raw-object.ts';

/** One line of a watch. */
export type WatchEvent =
  | { readonly type: 'ADDED' | 'MODIFIED' | 'DELETED'; readonly object: RawObject; readonly resourceVersion: string }
  | { readonly type: 'BOOKMARK'; readonly resourceVersion: string }
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
      const resourceVersion = bookmarkOf(object);
      if (resourceVersion !== null) return { type, resourceVersion };
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

/** The object of a bookmark has nothing but its resourceVersion. */
function bookmarkOf(object: unknown): string | null {
  const metadata = isRawObject(object) ? object['metadata'] : null;
  const resourceVersion = isRawObject(metadata) ? metadata['resourceVersion'] : null;
  return typeof resourceVersion === 'string' && resourceVersion !== '' ? resourceVersion : null;
}
