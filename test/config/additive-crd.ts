import { isDeepStrictEqual } from 'node:util';
import type { Definition, Schema } from './previous-release.ts';

/** An object that one of these lets through, another one may refuse that has less of it. */
const atMost: readonly string[] = ['maximum', 'maxLength', 'maxItems', 'maxProperties'];
const atLeast: readonly string[] = ['minimum', 'minLength', 'minItems', 'minProperties'];
/** What would mean something else if it changed. */
const fixed: readonly string[] = ['type', 'format', 'x-kubernetes-list-type', 'x-kubernetes-list-map-keys'];
/** What would refuse more if it came or changed; it may go. */
const conditions: readonly string[] = ['pattern', 'nullable', 'x-kubernetes-preserve-unknown-fields'];

/**
 * What of a CRD is gone or narrower in the next one, a sentence each: an object, or a client, of the one before would
 * not be understood. New fields are welcome, and wider bounds.
 */
export function narrowed(before: Definition, after: Definition): readonly string[] {
  const { scope, names } = before.spec;
  return [
    ...(scope === after.spec.scope && isDeepStrictEqual(names, after.spec.names) ? [] : ['its names have changed']),
    ...before.spec.versions
      .filter(({ served }) => served)
      .flatMap((version) => {
        const next = after.spec.versions.find(({ name, served }) => served && name === version.name);
        if (next === undefined) return [`${version.name} is no longer served`];
        const lost = Object.keys(version.subresources ?? {}).filter((name) => !(name in (next.subresources ?? {})));
        return [
          ...lost.map((name) => `${version.name} has lost its subresource ${name}`),
          ...narrowedSchema(version.schema.openAPIV3Schema, next.schema.openAPIV3Schema, version.name),
        ];
      }),
  ];
}

function narrowedSchema(before: Schema, after: Schema, path: string): readonly string[] {
  const said = (what: string): readonly string[] => [`${path}: ${what}`];
  const values = after.enum;
  return [
    ...fixed.flatMap((word) => (isDeepStrictEqual(before[word], after[word]) ? [] : said(`${word} has changed`))),
    ...conditions.flatMap((word) =>
      after[word] === undefined || isDeepStrictEqual(before[word], after[word]) ? [] : said(`${word} has changed`),
    ),
    ...atMost.flatMap((word) => (limit(after, word, 1) < limit(before, word, 1) ? said(`${word} is lower`) : [])),
    ...atLeast.flatMap((word) => (limit(after, word, -1) > limit(before, word, -1) ? said(`${word} is higher`) : [])),
    ...(values === undefined ? [] : (before.enum ?? ['any value']).filter((value) => !values.includes(value))).flatMap(
      (value) => said(`${String(value)} is no longer allowed`),
    ),
    ...(after.required ?? [])
      .filter((name) => before.required?.includes(name) !== true)
      .flatMap((name) => said(`${name} is required`)),
    ...rules(after)
      .filter((rule) => !rules(before).includes(rule))
      .flatMap((rule) => said(`it has a rule more: ${rule}`)),
    ...Object.entries(before.properties ?? {}).flatMap(([name, schema]) =>
      narrowedPart(schema, after.properties?.[name], `${path}.${name}`),
    ),
    ...narrowedPart(before.additionalProperties, after.additionalProperties, `${path}.*`),
    ...narrowedPart(before.items, after.items, `${path}[]`),
  ];
}

function narrowedPart(before: Schema | undefined, after: Schema | undefined, path: string): readonly string[] {
  if (before === undefined) return [];
  return after === undefined ? [`${path}: it is gone`] : narrowedSchema(before, after, path);
}

/** `sign` 1: no upper limit unless said; -1: no lower one. */
function limit(schema: Schema, word: string, sign: 1 | -1): number {
  const value = schema[word];
  return typeof value === 'number' ? value : sign * Number.POSITIVE_INFINITY;
}

function rules(schema: Schema): readonly string[] {
  const validations = (schema['x-kubernetes-validations'] ?? []) as readonly { readonly rule: string }[];
  return validations.map(({ rule }) => rule);
}
