import { isDeepStrictEqual } from 'node:util';
import { type Json, object, text } from '../../moco/json.ts';

/** One field that differs. `undefined` where it is not there. */
export interface Difference {
  /** Such as `spec.containers[mysqld].image`. */
  readonly path: string;
  readonly before: unknown;
  readonly after: unknown;
}

/**
 * What differs between two pod templates, values included: they were read with the rights of whoever looks at them.
 * Items of a list are known by their names where they have some, else by their place.
 */
export function differences(before: unknown, after: unknown, path = ''): readonly Difference[] {
  if (isDeepStrictEqual(before, after)) return [];
  const parts = partsOf(before, after);
  if (parts === null) return [{ path, before, after }];
  return parts.flatMap(({ key, left, right }) => differences(left, right, joined(path, key)));
}

const joined = (path: string, key: string): string =>
  path === '' || key.startsWith('[') ? `${path}${key}` : `${path}.${key}`;

interface Part {
  readonly key: string;
  readonly left: unknown;
  readonly right: unknown;
}

/** `null` where the two are compared as they are. */
function partsOf(before: unknown, after: unknown): readonly Part[] | null {
  if (isObject(before) && isObject(after)) {
    // The patch directive that Kubernetes stores in a template is nobody's field.
    const names = unique([...Object.keys(before), ...Object.keys(after)]).filter((name) => name !== '$patch');
    return names.map((name) => ({
      key: /^\w+$/.test(name) ? name : `[${name}]`,
      left: before[name],
      right: after[name],
    }));
  }
  if (!Array.isArray(before) || !Array.isArray(after)) return null;
  if (isNamed(before) && isNamed(after)) {
    const names = unique([...before, ...after].map(nameOf));
    return names.map((name) => ({ key: `[${name}]`, left: itemNamed(before, name), right: itemNamed(after, name) }));
  }
  const places = Array.from({ length: Math.max(before.length, after.length) }, (_, place) => place);
  return places.map((place) => ({ key: `[${place}]`, left: before[place] as unknown, right: after[place] as unknown }));
}

const unique = (names: readonly string[]): readonly string[] => [...new Set(names)];

export const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

export const nameOf = (item: unknown): string => text(object(item)['name']) ?? '';

export const itemNamed = (list: readonly unknown[], name: string): unknown =>
  list.find((item) => nameOf(item) === name);

/** Every item has a name, and no two the same one. */
export function isNamed(list: readonly unknown[]): boolean {
  const names = list.map(nameOf);
  return !names.includes('') && new Set(names).size === names.length;
}
