import { type Json, milliseconds, object, objects, text } from '../base/json.ts';
import { shortened } from '../base/text.ts';

// What `metadata.managedFields` shows: which managers have set a field, and when.

/** Kubernetes writes times in whole seconds. */
const timestampsMilliseconds = 1000;

/**
 * Each name has at most 128 characters. The API server itself keeps ten entries for updates, but any number for
 * applies.
 */
const mostManagers = 10;

/**
 * When a label got its value, or a later time; `null` if that cannot be determined. The API server records which
 * manager last set a field, and when that manager last changed any of its fields, which may be later.
 */
export function labelSetAt(managedFields: unknown, label: string): string | null {
  const times = objects(managedFields)
    .filter((entry) => owns(entry, label))
    .map(({ time }) => text(time) ?? '');
  // An entry without a time proves nothing.
  return times.includes('') ? null : (times.toSorted().at(-1) ?? null);
}

/** When a field of a status got its value, or a later time; `null` if that cannot be determined. */
export function statusSetAt(managedFields: unknown, field: string): number | null {
  const times = objects(managedFields)
    .filter(({ fieldsV1 }) => object(object(fieldsV1)['f:status'])[`f:${field}`] !== undefined)
    .map(({ time }) => milliseconds(text(time)) ?? Number.NaN);
  const newest = Math.max(...times);
  return Number.isFinite(newest) ? newest : null;
}

/** When the status of an object last changed. `null` if that cannot be determined. */
export function statusChangedAt(raw: unknown): number | null {
  const times = objects(object(object(raw)['metadata'])['managedFields'])
    .filter(({ subresource }) => subresource === 'status')
    .map(({ time }) => milliseconds(text(time)) ?? Number.NaN);
  return times.length === 0 || times.some(Number.isNaN) ? null : Math.max(...times);
}

/**
 * The managers that wrote an object within a second of its newest write, in alphabetical order. Writes to the status do
 * not count.
 */
export function newestManagers(managedFields: unknown): readonly string[] {
  const entries = objects(managedFields)
    .filter(({ subresource }) => subresource !== 'status')
    .map(({ manager, time }) => ({ manager: text(manager) ?? '', at: milliseconds(text(time)) ?? Number.NaN }))
    .filter(({ at }) => Number.isFinite(at));
  const newest = entries.reduce((latest, { at }) => Math.max(latest, at), Number.NEGATIVE_INFINITY);
  const managers = entries.filter(({ at }) => newest - at <= timestampsMilliseconds).map(({ manager }) => manager);
  return [...new Set(managers)].toSorted().slice(0, mostManagers);
}

/**
 * The managers of a field of an object's spec, in the API server's order. With `key`, the managers of one entry of a
 * list.
 */
export function ownersOf(raw: unknown, field: string, key?: object): readonly string[] {
  return objects(object(object(raw)['metadata'])['managedFields'])
    .filter(({ subresource = '', fieldsV1 }) => {
      const own = object(object(fieldsV1)['f:spec'])[`f:${field}`];
      return (
        subresource === '' &&
        (key === undefined ? own !== undefined : object(own)[`k:${JSON.stringify(key)}`] !== undefined)
      );
    })
    .map(({ manager }) => text(manager) ?? '');
}

/**
 * A manager counts if it wrote at most this long before the newest write. RevisionFlapping counts update revisions for
 * the same time.
 */
const writersMilliseconds = 600_000;

/**
 * The managers that have lately written a field of an object's spec, the newest first. A manager counts if it wrote
 * within ten minutes of the newest such write. The API server keeps only the last time of each manager.
 */
export function writersOf(raw: unknown, field: string): readonly string[] {
  const entries = objects(object(object(raw)['metadata'])['managedFields'])
    .filter(({ subresource = '', fieldsV1 }) => subresource === '' && object(object(fieldsV1)['f:spec'])[`f:${field}`])
    .map(({ manager, time }) => ({ manager: text(manager) ?? '', at: milliseconds(text(time)) ?? Number.NaN }))
    .filter(({ at }) => Number.isFinite(at))
    .toSorted((one, other) => other.at - one.at);
  const newest = entries[0]?.at ?? 0;
  const recent = entries.filter(({ at }) => newest - at <= writersMilliseconds).map(({ manager }) => manager);
  return [...new Set(recent)].slice(0, mostWriters);
}

const mostWriters = 3;
const longestName = 253;

/**
 * Who owns an object or, if it has no owner, who manages its spec, such as `managed by helm`. `null` if neither is
 * known.
 */
export function whoseOf(raw: unknown): string | null {
  const metadata = object(object(raw)['metadata']);
  const owners = objects(metadata['ownerReferences']);
  const owner = owners.find((one) => one['controller'] === true) ?? owners[0];
  if (owner !== undefined) {
    return shortened(`owned by ${text(owner['kind']) ?? 'an object'} ${text(owner['name']) ?? ''}`.trim(), longestName);
  }
  const managers = objects(metadata['managedFields'])
    .filter(({ subresource = '', fieldsV1 }) => subresource === '' && object(fieldsV1)['f:spec'] !== undefined)
    .map(({ manager }) => text(manager) ?? '');
  const named = [...new Set(managers)].slice(0, mostWriters);
  return named.length === 0 ? null : shortened(`managed by ${named.join(', ')}`, longestName);
}

const owns = ({ fieldsV1 }: Json, label: string): boolean =>
  object(object(object(fieldsV1)['f:metadata'])['f:labels'])[`f:${label}`] !== undefined;
