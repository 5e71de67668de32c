import { isDeepStrictEqual } from 'node:util';
import { object } from '../../src/moco/json.ts';

/** One operation of RFC 6902, of those that webhooks answer with and this project sends. */
export interface Operation {
  readonly op: 'add' | 'remove' | 'test';
  readonly path: string;
  readonly value?: unknown;
}

/** What the API server answers with 422, without causes (seen on Kubernetes 1.36.3). */
export class PatchTestFailed extends Error {}

/** Throws `PatchTestFailed`. */
export function jsonPatch(whole: unknown, operations: readonly Operation[]): unknown {
  return operations.reduce((before, { op, path, value }) => {
    const fields = path
      .slice(1)
      .split('/')
      .map((field) => field.replaceAll('~1', '/').replaceAll('~0', '~'));
    if (op !== 'test') return changedAt(before, fields, op === 'remove' ? undefined : value);
    const found = fields.reduce<unknown>((inner, field) => object(inner)[field], before);
    if (!isDeepStrictEqual(found, value)) throw new PatchTestFailed(`testing ${path} failed`);
    return before;
  }, whole);
}

/** `undefined` removes the field. */
function changedAt(before: unknown, [field = '', ...rest]: readonly string[], value: unknown): unknown {
  const { [field]: inner, ...others } = object(before);
  const changed = rest.length === 0 ? value : changedAt(inner, rest, value);
  return changed === undefined ? others : { ...object(before), [field]: changed };
}
