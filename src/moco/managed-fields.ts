import { type Json, object, objects, text } from './json.ts';

/**
 * When a label got its value, or later. `null` if nothing shows that. The API server records who has set a field last, and
 * when that writer last changed one of its fields: no earlier than this one.
 */
export function labelSetAt(managedFields: unknown, label: string): string | null {
  const times = objects(managedFields)
    .filter((entry) => owns(entry, label))
    .map(({ time }) => text(time) ?? '');
  // An entry without its time shows nothing.
  return times.includes('') ? null : (times.toSorted().at(-1) ?? null);
}

const owns = ({ fieldsV1 }: Json, label: string): boolean =>
  object(object(object(fieldsV1)['f:metadata'])['f:labels'])[`f:${label}`] !== undefined;
