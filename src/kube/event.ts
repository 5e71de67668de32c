import { V1MicroTime } from '@kubernetes/client-node';
import { apiVersion, events, type ResourceKind } from './resource.ts';

// The Event objects of the API group events.k8s.io/v1.

export interface ObjectReference {
  readonly apiVersion?: string;
  readonly kind: string;
  /** Absent for cluster-scoped objects. Events about such objects are stored in the namespace `default`. */
  readonly namespace?: string;
  readonly name: string;
  readonly uid?: string;
}

export const referenceTo = (
  resource: ResourceKind,
  { namespace, name, uid }: { readonly namespace: string; readonly name: string; readonly uid: string },
): ObjectReference => ({ apiVersion: apiVersion(resource), kind: resource.kind, namespace, name, uid });

export interface Occurrence {
  readonly regarding: ObjectReference;
  /**
   * A second object that gets its own Event, because `kubectl describe` finds an Event only by the object in
   * `regarding`.
   */
  readonly alsoRegarding?: ObjectReference;
  readonly related?: ObjectReference;
  readonly type: 'Normal' | 'Warning';
  /** The reason, in CamelCase. */
  readonly reason: string;
  /** The action that was taken, or failed, in CamelCase. */
  readonly action: string;
  /** A sentence for people; truncated after 1 kB of UTF-8. */
  readonly note: string;
}

/** The reporting controller. */
export interface Reporter {
  readonly component: string;
  readonly instance: string;
}

export interface EventSeries {
  readonly name: string;
  readonly occurrence: Occurrence;
  readonly firstWallMilliseconds: number;
  readonly lastWallMilliseconds: number;
  readonly count: number;
}

const longestNoteBytes = 1024;
const longestWordCharacters = 128;
const longestNameCharacters = 253;

/** The key of a series. Two occurrences with equal keys belong to one series. */
export function seriesKey({ regarding, related, type, reason, action, note }: Occurrence): string {
  return JSON.stringify([
    referenceIdentity(regarding),
    related && referenceIdentity(related),
    type,
    reason,
    action,
    note,
  ]);
}

/** A unique name, built as in client-go from the object's name and a unique suffix. */
export function eventName({ regarding }: Occurrence, unique: string): string {
  return `${regarding.name.slice(0, longestNameCharacters - unique.length - 1)}.${unique}`;
}

export function namespaceOf({ regarding }: Occurrence): string {
  return regarding.namespace === undefined || regarding.namespace === '' ? 'default' : regarding.namespace;
}

/** The Event object to create. */
export function eventOf(series: EventSeries, { component, instance }: Reporter): object {
  const { name, occurrence, firstWallMilliseconds } = series;
  const { regarding, related, type, reason, action, note } = occurrence;
  return {
    apiVersion: apiVersion(events),
    kind: events.kind,
    metadata: { name, namespace: namespaceOf(occurrence) },
    eventTime: new V1MicroTime(firstWallMilliseconds).toISOString(),
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

/** The only fields of an Event that may change. */
export function seriesPatch({ count, lastWallMilliseconds }: EventSeries): object {
  return count < 2 ? {} : { series: { count, lastObservedTime: new V1MicroTime(lastWallMilliseconds).toISOString() } };
}

const referenceIdentity = ({ kind, namespace, name, uid }: ObjectReference): readonly (string | undefined)[] => [
  kind,
  namespace,
  name,
  uid,
];

/** Truncates to the API server's limit, without splitting a character. */
function cut(note: string): string {
  const bytes = new TextEncoder().encode(note);
  if (bytes.length <= longestNoteBytes) return note;
  const mark = '…';
  const room = longestNoteBytes - new TextEncoder().encode(mark).length;
  return new TextDecoder().decode(bytes.subarray(0, room), { stream: true }) + mark;
}
