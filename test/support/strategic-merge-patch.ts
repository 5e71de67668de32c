type Json = Readonly<Record<string, unknown>>;

/** The lists whose entries are merged, by the field that names an entry. Other lists are replaced. */
const mergeKeys: Readonly<Record<string, string>> = { conditions: 'type', containers: 'name', initContainers: 'name' };

/** As much of a strategic merge patch as kubelets and this program send. */
export function strategicMergePatch(before: unknown, patch: unknown): unknown {
  if (!isRecord(patch)) return patch;
  const merged: Record<string, unknown> = isRecord(before) ? { ...before } : {};
  for (const [field, value] of Object.entries(patch)) {
    const key = mergeKeys[field];
    if (value === null) delete merged[field];
    else if (key !== undefined && Array.isArray(value)) merged[field] = mergeEntries(merged[field], value, key);
    else if (Array.isArray(value)) merged[field] = value;
    else merged[field] = strategicMergePatch(merged[field], value);
  }
  return merged;
}

function mergeEntries(before: unknown, patch: readonly unknown[], key: string): readonly unknown[] {
  const entries: Json[] = Array.isArray(before) ? [...(before as Json[])] : [];
  for (const one of patch as readonly Json[]) {
    const index = entries.findIndex((entry) => entry[key] === one[key]);
    const merged = strategicMergePatch(entries[index], one) as Json;
    if (index < 0) entries.push(merged);
    else entries[index] = merged;
  }
  return entries;
}

const isRecord = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
