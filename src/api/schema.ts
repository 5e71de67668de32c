import * as z from 'zod';
import { milliseconds } from '../base/json.ts';
import type { ResourceKind } from '../kube/resource.ts';

// The building blocks of the schemas of all kinds. Types, the validation of objects and the CRDs are derived from the
// schemas. The message of a schema completes a sentence that says what a value must be: "expected spec.partition to be
// MESSAGE, got -1".

export const ownKind = (plural: string, kind: string, namespaced: boolean): ResourceKind => ({
  group: 'moco-rollout.io',
  version: 'v1alpha1',
  plural,
  kind,
  namespaced,
});

/** Objects from the API server are never modified in memory. */
type Immutable<T> = T extends readonly (infer Item)[]
  ? readonly Immutable<Item>[]
  : T extends object
    ? { readonly [Field in keyof T]: Immutable<T[Field]> }
    : T;

export type Infer<Schema extends z.ZodType> = Immutable<z.infer<Schema>>;

/** A validation rule of a schema. The CRD contains it in `x-kubernetes-validations`. */
interface ValidationRule {
  readonly rule: string;
  readonly message: string;
}

export const validations = (...all: readonly ValidationRule[]) => ({ 'x-kubernetes-validations': all });

export function whole(lowest: number, highest: number, description: string) {
  const message = `a whole number from ${lowest} to ${highest}`;
  return z.int(message).min(lowest, message).max(highest, message).meta({ format: 'int32', description });
}

export const count = (description: string) => z.int().min(0).meta({ format: 'int32', maximum: undefined, description });

export const percentage = '^(100|[1-9][0-9]?)%$';

export const countOrPercentageText = (largest: number): string =>
  `a whole number from 1 to ${largest}, or a percentage from "1%" to "100%"`;

/**
 * A count such as `2`, or a percentage such as `10%`. The caller describes it for the CRD, because a CEL rule would be
 * too expensive in a list.
 */
export const countOrPercentage = <Value extends number | string>(largest: number) =>
  z.custom<Value>(
    (value) =>
      typeof value === 'string'
        ? new RegExp(percentage).test(value)
        : Number.isInteger(value) && Number(value) >= 1 && Number(value) <= largest,
    countOrPercentageText(largest),
  );

export const generation = (description: string) =>
  z.int().min(0).meta({ format: 'int64', maximum: undefined, description });

export const flag = (description: string) => z.boolean('true or false').meta({ description });

export function text(longest: number, description: string) {
  const message = `a text of 1 to ${longest} characters`;
  return z.string(message).min(1, message).max(longest, message).meta({ description });
}

/** A text that may be empty. */
export const sentence = (longest: number, description: string) =>
  z.string('a text').max(longest, `a text of up to ${longest} characters`).meta({ description });

export const oneOf = <const Word extends string>(words: readonly Word[], description: string) =>
  z.enum(words, words.join(' or ')).meta({ description });

const rfc3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/i;

export const time = (description: string) =>
  z
    .string('a time such as 2026-01-02T03:04:05Z')
    .refine((value) => rfc3339.test(value) && milliseconds(value) !== null, 'a time such as 2026-01-02T03:04:05Z')
    .meta({ format: 'date-time', description });

export const struct = <Shape extends z.core.$ZodLooseShape>(shape: Shape, description: string) =>
  z.object(shape, 'an object').meta({ description });

type Optional<Shape extends Readonly<Record<string, z.ZodType>>> = {
  [Field in keyof Shape]: z.ZodExactOptional<Shape[Field]>;
};

export const optional = <Shape extends Readonly<Record<string, z.ZodType>>>(all: Shape): Optional<Shape> =>
  Object.fromEntries(Object.entries(all).map(([field, schema]) => [field, schema.exactOptional()])) as Optional<Shape>;

/**
 * An object that has only one writer, which always replaces it as a whole. `metadata.managedFields` then contains only
 * the name of the object and not its fields. That halves the size of the Kubernetes object.
 */
export const written = <Shape extends z.core.$ZodLooseShape>(shape: Shape, description: string) =>
  struct(shape, description).meta({ 'x-kubernetes-map-type': 'atomic' });

/** A list that each write replaces as a whole. */
export const listOf = <Item extends z.ZodType>(item: Item, maxItems: number, description: string) =>
  z
    .array(item, 'a list')
    .max(maxItems, `a list of at most ${maxItems}`)
    .meta({ 'x-kubernetes-list-type': 'atomic', description });

/** A list of plain values without duplicates. */
export const setOf = <Item extends z.ZodType>(item: Item, minItems: number, maxItems: number, description: string) =>
  listOf(item, maxItems, description)
    .min(minItems, `a list of at least ${minItems}`)
    .superRefine(eachOnce())
    .meta({ 'x-kubernetes-list-type': 'set' });

/** A list in which every entry has a different value of the field `key`. */
export const listBy = <Item extends z.ZodType>(key: string, item: Item, maxItems: number, description: string) =>
  listOf(item, maxItems, description)
    .superRefine(eachOnce(key))
    .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': [key] });

/** Refuses an item that equals an earlier item. If there is a `key`, only the values of that field are compared. */
const eachOnce = (key?: string) => (items: readonly unknown[], context: z.RefinementCtx) => {
  const values = items.map((one) => (key === undefined ? one : (one as Readonly<Record<string, unknown>>)[key]));
  const index = values.findIndex((value, at) => values.indexOf(value) !== at);
  const message = `different from every other ${key ?? 'value'} in the list`;
  if (index >= 0) context.addIssue({ code: 'custom', path: key === undefined ? [index] : [index, key], message });
};

const longestQuotedCharacters = 80;

/**
 * Says what is wrong with the first invalid field of a value, or returns `null` if the value is valid. `path` is the
 * path of the value.
 */
export function problemOf(schema: z.ZodType, value: unknown, path: string): string | null {
  const [issue] = schema.safeParse(value).error?.issues ?? [];
  if (issue === undefined) return null;
  const where = issue.path.reduce<string>((before, key) => before + pathStep(key), path);
  const got = issue.path.reduce<unknown>(
    (within, key) => (within as Readonly<Record<PropertyKey, unknown>>)?.[key],
    value,
  );
  const quoted = (JSON.stringify(got) ?? 'nothing').slice(0, longestQuotedCharacters);
  return `expected ${where} to be ${issue.message}, got ${quoted}`;
}

function pathStep(key: PropertyKey): string {
  if (typeof key === 'number') return `[${key}]`;
  return /^\w+$/.test(String(key)) ? `.${String(key)}` : `["${String(key)}"]`;
}

/** The pattern of a duration: each unit occurs at most once, in the order in which Kubernetes writes them. */
const durationPattern = '^([0-9]{1,4}h)?([0-9]{1,5}m)?([0-9]{1,7}s)?$';
const longestSeconds = 9_999_999;
const expectedDuration = 'a duration such as "90s", "5m" or "24h", or a whole number of seconds';

type Duration = string | number;

/** The number of seconds in a duration such as `1h30m`, or in a number of seconds. `null` if the value is neither. */
export function secondsOf(value: unknown): number | null {
  if (typeof value === 'number') return Number.isInteger(value) && value >= 0 && value <= longestSeconds ? value : null;
  if (typeof value !== 'string' || value === '') return null;
  const [whole, hours = '0', minutes = '0', seconds = '0'] = new RegExp(durationPattern).exec(value) ?? [];
  if (whole === undefined) return null;
  return Number.parseInt(hours, 10) * 3600 + Number.parseInt(minutes, 10) * 60 + Number.parseInt(seconds, 10);
}

/**
 * A duration, or a number of seconds. The CRD limits numbers and texts separately, because a CEL rule would be too
 * expensive in a list.
 */
export const duration = (description: string) =>
  z
    .custom<Duration>((value) => secondsOf(value) !== null, expectedDuration)
    .meta({
      'x-kubernetes-int-or-string': true,
      minimum: 0,
      maximum: longestSeconds,
      minLength: 1,
      pattern: durationPattern,
      description,
    });

const label = z.string('a text').max(63, 'a text of up to 63 characters');
const needsValues: readonly string[] = ['In', 'NotIn'];

const requirement = struct(
  {
    key: text(317, 'The name of the label.'),
    operator: oneOf(['In', 'NotIn', 'Exists', 'DoesNotExist'], 'How the value of the label relates to the values.'),
    values: listOf(
      label.meta({ description: 'A value of the label.' }),
      64,
      'The values: at least one for In and NotIn, none for Exists and DoesNotExist.',
    ).exactOptional(),
  },
  'A condition on a label.',
)
  .refine(({ operator, values = [] }) => needsValues.includes(operator) === values.length > 0, {
    path: ['values'],
    message: 'at least one value for In and NotIn, and none for Exists and DoesNotExist',
  })
  .meta(
    validations({
      rule: "(self.operator in ['In', 'NotIn']) == (has(self.values) && size(self.values) > 0)",
      message: 'In and NotIn need at least one value, Exists and DoesNotExist take none',
    }),
  );

/** A label selector, as in Kubernetes. */
export const labelSelector = (description: string) =>
  struct(
    optional({
      matchLabels: z
        .record(z.string(), label.meta({ description: 'The value of the label.' }), 'an object')
        .meta({ maxProperties: 64, description: 'Labels that must be present with exactly these values.' }),
      matchExpressions: listOf(requirement, 64, 'Conditions on labels, all of which must hold.'),
    }),
    description,
  ).meta({ 'x-kubernetes-map-type': 'atomic' });
