// Reads objects of unknown shape. A value without the expected type counts as absent. So an object without labels or
// status, or with unknown fields, never causes an exception.

/** An object, or a part of it, as the API server sent it, before a projection. */
export type Json = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const nothing: Json = {};

export function object(value: unknown): Json {
  return isObject(value) ? value : nothing;
}

export function objects(value: unknown): readonly Json[] {
  return Array.isArray(value) ? value.map(object) : [];
}

/** The item of a list with this name, such as a container; an empty object if there is no such item. */
export const named = (list: unknown, name: unknown): Json =>
  objects(list).find((one) => one['name'] === name) ?? nothing;

export function text(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

export function whole(value: unknown, otherwise: number): number {
  return typeof value === 'number' && Number.isInteger(value) ? value : otherwise;
}

export function texts(value: unknown): Readonly<Record<string, string>> {
  const entries = Object.entries(object(value)).filter(
    (entry): entry is [string, string] => typeof entry[1] === 'string',
  );
  return Object.fromEntries(entries);
}

/**
 * A map of an object that a tenant may write, such as its labels. Throws a `RangeError` if the names and values are
 * longer than `most` characters in total.
 */
export function fewTexts(value: unknown, most: number, what: string): Readonly<Record<string, string>> {
  const found = texts(value);
  const characters = Object.entries(found).reduce((sum, [name, text]) => sum + name.length + text.length, 0);
  if (characters > most) throw new RangeError(`expected ${what} of at most ${most} characters, got ${characters}`);
  return found;
}

/** The objects of a list that a tenant has written. Throws a `RangeError` if the list has more than `most` objects. */
export function fewObjects(value: unknown, most: number, what: string): readonly Json[] {
  const length = Array.isArray(value) ? value.length : 0;
  if (length > most) throw new RangeError(`expected at most ${most} ${what}, got ${length}`);
  return objects(value);
}

export function strings(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : [];
}

/** The fields that every record has, and the generation. */
export function identityOf(raw: Json) {
  const { namespace, name, uid, resourceVersion, generation } = object(raw['metadata']);
  return {
    namespace: text(namespace) ?? '',
    name: text(name) ?? '',
    uid: text(uid) ?? '',
    resourceVersion: text(resourceVersion) ?? '',
    generation: whole(generation, 0),
  };
}

/** Returns the object without the fields that are `undefined`, so that they are not written as `null`. */
export function omitUndefined<T extends object>(fields: { [K in keyof T]: T[K] | undefined }): T {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as T;
}

/**
 * A timestamp of the API server or of an HTTP header in milliseconds since 1970, or `null` if it is invalid. This
 * function only parses; it reads no clock.
 */
export function milliseconds(timestamp: string | null): number | null {
  // oxlint-disable-next-line no-restricted-globals
  const value = timestamp === null ? Number.NaN : Date.parse(timestamp);
  return Number.isNaN(value) ? null : value;
}

/** A timestamp in the API server's format, with milliseconds. */
export function timestampOf(wallMilliseconds: number): string {
  // oxlint-disable-next-line no-restricted-globals
  return new Date(wallMilliseconds).toISOString();
}

/** A condition of a status; an empty object if there is none of this type. */
export const conditionOf = (status: Json, type: string): Json =>
  objects(status['conditions']).find((condition) => condition['type'] === type) ?? nothing;

export const isConditionTrue = (status: Json, type: string): boolean => conditionOf(status, type)['status'] === 'True';
