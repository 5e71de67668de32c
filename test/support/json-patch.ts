import { isDeepStrictEqual } from 'node:util';
import { isObject, type Json } from '../../src/base/json.ts';

/** One operation of RFC 6902, of those that webhooks answer with and this project sends. */
export interface Operation {
  readonly op: 'add' | 'remove' | 'test';
  readonly path: string;
  readonly value?: unknown;
}

/** What the API server answers with 422, without causes (seen on Kubernetes 1.36.3). */
export class PatchTestFailed extends Error {}

/** Throws `PatchTestFailed`, and `TypeError` for a patch that an API server refuses as well. */
export function jsonPatch(object: unknown, operations: readonly Operation[]): unknown {
  return operations.reduce((before, { op, path, value }) => {
    const names = path.slice(1).split('/');
    const fields = names.map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
    if (op !== 'test') return changedAt(before, fields, path, op === 'remove' ? undefined : { value });
    const found = fields.reduce<unknown>((inner, field) => (isObject(inner) ? inner[field] : undefined), before);
    if (!isDeepStrictEqual(found, value)) throw new PatchTestFailed(`testing ${path} failed`);
    return before;
  }, object);
}

/** Without another value the field is removed. */
function changedAt(
  before: unknown,
  [field = '', ...rest]: readonly string[],
  path: string,
  put: { readonly value: unknown } | undefined,
): Json {
  if (!isObject(before)) throw new TypeError(`expected an object above ${path}, got ${JSON.stringify(before)}`);
  const { [field]: inner, ...others } = before;
  if (rest.length > 0) return { ...before, [field]: changedAt(inner, rest, path, put) };
  if (put !== undefined) return { ...before, [field]: put.value };
  if (inner === undefined) throw new TypeError(`expected something to remove at ${path}, got nothing`);
  return others;
}
