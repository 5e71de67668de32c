import { microTime } from './micro-time.ts';
import { apiVersion, events } from './resource.ts';

/** What an event is about, as events.k8s.io/v1 has it. */
export interface ObjectReference {
  readonly apiVersion?: string;
  readonly kind: string;
  /** None for what isn't namespaced; its events are kept in `default`. */
  readonly namespace?: string;
  readonly name: string;
  readonly uid?: string;
  readonly resourceVersion?: string;
  readonly fieldPath?: string;
}

/** Something that happened, told by whoever did it or saw it. */
export interface Occurrence {
  readonly regarding: ObjectReference;
  readonly related?: ObjectReference;
  readonly type: 'Normal' | 'Warning';
  /** Why, in CamelCase. */
  readonly reason: string;
  /** What was done, or failed to be, in CamelCase. */
  readonly action: string;
  /** A sentence for people. What is longer than 1 kB of UTF-8 is cut. */
  readonly note: string;
}

/** Who tells it. */
export interface Reporter {
  readonly component: string;
  readonly instance: string;
}

/** The same thing, again and again. */
export interface Series {
  readonly name: string;
  readonly occurrence: Occurrence;
  readonly firstWallMilliseconds: number;
  readonly lastWallMilliseconds: number;
  readonly count: number;
}

const longestNoteBytes = 1024;
const longestWordCharacters = 128;
const longestNameCharacters = 253;

/** Two occurrences with the same key are one event that happened twice. */
export function seriesKey({ regarding, related, type, reason, action, note }: Occurrence): string {
  return JSON.stringify([identityOf(regarding), related && identityOf(related), type, reason, action, note]);
}

/** A name that no other event has, as client-go makes them: the object's and something unique. */
export function eventName({ regarding }: Occurrence, unique: string): string {
  return `${regarding.name.slice(0, longestNameCharacters - unique.length - 1)}.${unique}`;
}

export function namespaceOf({ regarding }: Occurrence): string {
  return regarding.namespace === undefined || regarding.namespace === '' ? 'default' : regarding.namespace;
}

/** The object to create. */
export function eventOf(series: Series, { component, instance }: Reporter): object {
  const { name, occurrence, firstWallMilliseconds } = series;
  const { regarding, related, type, reason, action, note } = occurrence;
  return {
    apiVersion: apiVersion(events),
    kind: events.kind,
    metadata: { name, namespace: namespaceOf(occurrence) },
    eventTime: microTime(firstWallMilliseconds),
    ...seriesPatch(series),
    reportingController: component,
    reportingInstance: instance.slice(0, longestWordCharacters),
    regarding,
    ...(related && { related }),
    type,
    reason: reason.slice(0, longestWordCharacters),
    action: action.slice(0, longestWordCharacters),
    note: cut(note),
  };
}

/** All that may change of an event. */
export function seriesPatch({ count, lastWallMilliseconds }: Series): object {
  return count < 2 ? {} : { series: { count, lastObservedTime: microTime(lastWallMilliseconds) } };
}

function identityOf({ kind, namespace, name, uid, fieldPath }: ObjectReference): readonly (string | undefined)[] {
  return [kind, namespace, name, uid, fieldPath];
}

/** To what the API server takes, in whole characters. */
function cut(note: string): string {
  const bytes = new TextEncoder().encode(note);
  if (bytes.length <= longestNoteBytes) return note;
  const mark = '…';
  const room = longestNoteBytes - new TextEncoder().encode(mark).length;
  return new TextDecoder().decode(bytes.subarray(0, room), { stream: true }) + mark;
}
