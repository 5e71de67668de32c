import { mocoManager } from './names.ts';
import type { KubernetesObject } from './objects.ts';
import { isRecord } from './same.ts';

/**
 * The live values of the fields that MOCO applied to an object and still owns, as client-go's `Extract…` returns them
 * for a comparison with the desired values. Read from the object's `managedFields`, in the form FieldsV1 of
 * structured-merge-diff: `f:` a field, `k:` an entry of a list by its keys, `v:` an entry by its value, `.` itself.
 * Empty if MOCO has applied nothing.
 */
export function ownedValues(object: KubernetesObject): Readonly<Record<string, unknown>> {
  const applied = object.metadata.managedFields?.find(
    (entry) => entry.manager === mocoManager && entry.operation === 'Apply' && entry.subresource === undefined,
  );
  const values = isRecord(applied?.fieldsV1) ? extract(object, applied.fieldsV1) : undefined;
  return isRecord(values) ? values : {};
}

function extract(value: unknown, fields: Readonly<Record<string, unknown>>): unknown {
  const names = Object.keys(fields).filter((name) => name !== '.');
  if (names.length === 0) {
    return value;
  }
  if (Array.isArray(value)) {
    return extractEntries(value, fields, names);
  }
  if (!isRecord(value)) {
    return undefined;
  }
  const extracted: Record<string, unknown> = {};
  for (const name of names) {
    const key = name.slice('f:'.length);
    const child = fields[name];
    if (name.startsWith('f:') && key in value && isRecord(child)) {
      extracted[key] = extract(value[key], child);
    }
  }
  return extracted;
}

/** In the order of the live list, which is the order in which they were applied. */
function extractEntries(
  entries: readonly unknown[],
  fields: Readonly<Record<string, unknown>>,
  names: readonly string[],
): unknown[] {
  return entries.flatMap((entry) => {
    const name = names.find((candidate) => isEntry(entry, candidate));
    const child = name === undefined ? undefined : fields[name];
    return isRecord(child) ? [extract(entry, child)] : [];
  });
}

function isEntry(entry: unknown, name: string): boolean {
  const wanted: unknown = JSON.parse(name.slice('k:'.length));
  if (name.startsWith('v:')) {
    return entry === wanted;
  }
  return isRecord(entry) && isRecord(wanted) && Object.entries(wanted).every(([key, value]) => entry[key] === value);
}
