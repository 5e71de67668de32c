import { isObject } from '../../../src/base/json.ts';
import { type Json, record, type StoredObject } from './stored-object.ts';

/**
 * Server-side apply with force by one manager. Lists belong to their manager as a whole, which is right if no other
 * manager writes them; fields that the manager applied before and omits now are removed.
 */
export function apply(before: StoredObject | null, body: Json, manager: string): StoredObject {
  const { apiVersion, kind, metadata, ...rest } = body;
  const { name, namespace, ...ownMetadata } = record(metadata);
  const applied: Json = { ...rest, metadata: ownMetadata };
  const fields = fieldsOf(applied) as Json;
  const entries = before?.metadata.managedFields ?? [];
  const isOwn = (entry: Json): boolean => entry['manager'] === manager && entry['operation'] === 'Apply';
  const base = record(withoutFields(before ?? {}, entries.find(isOwn)?.['fieldsV1'], fields));
  const merged = record(mergeApplied(base, applied));
  const entry = { manager, operation: 'Apply', apiVersion, fieldsType: 'FieldsV1', fieldsV1: fields };
  return {
    ...merged,
    apiVersion,
    kind,
    metadata: {
      ...record(merged['metadata']),
      name,
      namespace,
      managedFields: [...entries.filter((one) => !isOwn(one)), entry],
    },
  } as unknown as StoredObject;
}

function mergeApplied(before: unknown, body: unknown): unknown {
  if (!isObject(body)) return body;
  const merged: Record<string, unknown> = isObject(before) ? { ...before } : {};
  for (const [field, value] of Object.entries(body)) merged[field] = mergeApplied(merged[field], value);
  return merged;
}

function fieldsOf(value: unknown): unknown {
  if (!isObject(value) || Object.keys(value).length === 0) return {};
  return Object.fromEntries(Object.entries(value).map(([field, child]) => [`f:${field}`, fieldsOf(child)]));
}

/** Removes owned fields that are not desired any more. */
function withoutFields(value: unknown, owned: unknown, wanted: unknown): unknown {
  if (!isObject(value) || !isObject(owned)) return value;
  const rest: Record<string, unknown> = { ...value };
  for (const [name, child] of Object.entries(owned)) {
    const field = name.slice('f:'.length);
    const still = record(wanted)[name];
    if (still === undefined) delete rest[field];
    else if (Object.keys(record(child)).length > 0) rest[field] = withoutFields(rest[field], child, still);
  }
  return rest;
}
