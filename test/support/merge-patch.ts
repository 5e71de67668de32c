import { isObject, type Json } from '../../src/base/json.ts';

/** The lists whose entries a strategic merge patch merges, by the field that names an entry. Other lists are replaced. */
const mergeKeys: Readonly<Record<string, string>> = { conditions: 'type', containers: 'name', initContainers: 'name' };

/** Applies a JSON merge patch (RFC 7386). */
export function mergePatch(before: unknown, patch: unknown): unknown {
  return merged(before, patch, {});
}

/** As much of a strategic merge patch as kubelets and this program send. */
export function strategicMergePatch(before: unknown, patch: unknown): unknown {
  return merged(before, patch, mergeKeys);
}

function merged(before: unknown, patch: unknown, keys: typeof mergeKeys): unknown {
  if (!isObject(patch)) return patch;
  const fields: Record<string, unknown> = isObject(before) ? { ...before } : {};
  for (const [field, value] of Object.entries(patch)) {
    const key = keys[field];
    if (value === null) delete fields[field];
    else if (key !== undefined && Array.isArray(value)) fields[field] = mergedEntries(fields[field], value, key);
    else fields[field] = merged(fields[field], value, keys);
  }
  return fields;
}

function mergedEntries(before: unknown, patch: readonly unknown[], key: string): readonly unknown[] {
  const entries: Json[] = Array.isArray(before) ? [...(before as Json[])] : [];
  for (const one of patch as readonly Json[]) {
    const index = entries.findIndex((entry) => entry[key] === one[key]);
    const entry = strategicMergePatch(entries[index], one) as Json;
    if (index < 0) entries.push(entry);
    else entries[index] = entry;
  }
  return entries;
}
