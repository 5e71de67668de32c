import { isDeepStrictEqual } from 'node:util';

/** One operation of RFC 6902, of those that webhooks answer with and this project sends. */
export interface Operation {
  readonly op: 'add' | 'remove' | 'test';
  readonly path: string;
  readonly value?: unknown;
}

/** What the API server answers with 422, without causes (seen on Kubernetes 1.36.3). */
export class PatchTestFailed extends Error {}

type Fields = Readonly<Record<string, unknown>>;

const fieldsOf = (value: unknown): Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : {};

/** Throws `PatchTestFailed`. */
export function jsonPatch(object: unknown, operations: readonly Operation[]): unknown {
  return operations.reduce((before, { op, path, value }) => {
    const fields = path
      .slice(1)
      .split('/')
      .map((field) => field.replaceAll('~1', '/').replaceAll('~0', '~'));
    if (op !== 'test') return changedAt(before, fields, op === 'remove' ? undefined : value);
    const found = fields.reduce<unknown>((inner, field) => fieldsOf(inner)[field], before);
    if (!isDeepStrictEqual(found, value)) throw new PatchTestFailed(`testing ${path} failed`);
    return before;
  }, object);
}

/** `undefined` removes the field. */
function changedAt(before: unknown, [field = '', ...rest]: readonly string[], value: unknown): unknown {
  const { [field]: inner, ...others } = fieldsOf(before);
  const changed = rest.length === 0 ? value : changedAt(inner, rest, value);
  return changed === undefined ? others : { ...fieldsOf(before), [field]: changed };
}
