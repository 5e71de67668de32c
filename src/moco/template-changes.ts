import { isDeepStrictEqual } from 'node:util';
import { isObject, type Json, object, text } from '../base/json.ts';

// The differences between two pod templates, as people see them: what a rollout changes.

export interface TemplateChange {
  /** The path of the field, such as `spec.containers[mysqld].image`. */
  readonly path: string;
  readonly from?: string;
  readonly to?: string;
}

/** One field that differs between two pod templates. A side is `undefined` if the field is absent. */
export interface TemplateDifference {
  readonly path: string;
  readonly before: unknown;
  readonly after: unknown;
}

/**
 * The changes between two pod templates for the status, images first. Values are included only for images: environment
 * variables, arguments and annotations may be secret, and more people can read the status than the pods.
 */
export function templateChanges(before: Json, after: Json): readonly TemplateChange[] {
  const changes = templateDifferences(before, after).map(changeOf);
  return [...changes.filter(({ path }) => isImage(path)), ...changes.filter(({ path }) => !isImage(path))];
}

const isImage = (path: string): boolean => /^spec\.(?:initContainers|containers)\[[^\]]+\]\.image$/.test(path);

function changeOf({ path, before, after }: TemplateDifference): TemplateChange {
  // The image of a container that was added or removed is shown as well.
  if (!isImage(path) && isImage(`${path}.image`)) {
    return changeOf({ path: `${path}.image`, before: object(before)['image'], after: object(after)['image'] });
  }
  if (!isImage(path)) return { path };
  const [from, to] = [text(before), text(after)];
  return { path, ...(from !== null && { from }), ...(to !== null && { to }) };
}

/** The pod template of a ControllerRevision, without the patch directive that Kubernetes stores with it. */
export function templateOf(revision: Json): Json {
  const { $patch: _, ...template } = object(object(object(revision['data'])['spec'])['template']);
  return template;
}

/**
 * Values at this depth are compared as a whole, because every value is compared once for each level above it. The
 * deepest field of a pod template is at depth 12.
 */
const deepest = 16;

/**
 * The differences between two pod templates, with their values. Items of a list are matched by name if their names are
 * unique, otherwise by position. If the order of the items differs, one difference lists the names in order: a variable
 * can only refer to variables before it, and init containers run one after another. Empty if and only if the templates
 * are equal.
 */
export function templateDifferences(
  before: unknown,
  after: unknown,
  path = '',
  depth = 0,
): readonly TemplateDifference[] {
  if (isDeepStrictEqual(before, after)) return [];
  const parts = (depth < deepest ? partsOf(before, after) : null) ?? [];
  const within = [...parts].flatMap(([part, [left, right]]) =>
    templateDifferences(left, right, path === '' ? part.replace(/^\./, '') : path + part, depth + 1),
  );
  const all = [...orderOf(before, after, path), ...within];
  return all.length === 0 ? [{ path, before, after }] : all;
}

/** The order of the items that both lists contain, by name. */
function orderOf(before: unknown, after: unknown, path: string): readonly TemplateDifference[] {
  if (!isListOfNamed(before) || !isListOfNamed(after)) return [];
  const [left, right] = [before, after].map((list) => list.map(({ name }) => name));
  const [one, other] = [common(left, right), common(right, left)];
  return isDeepStrictEqual(one, other) ? [] : [{ path, before: one, after: other }];
}

function common(names: readonly string[] = [], others: readonly string[] = []): readonly string[] {
  const both = new Set(others);
  return names.filter((name) => both.has(name));
}

type Parts = ReadonlyMap<string, readonly [before: unknown, after: unknown]>;

/**
 * Splits two values into parts. The key of a part is the last segment of its path. `null` if the values are compared as
 * a whole.
 */
function partsOf(before: unknown, after: unknown): Parts | null {
  const [left, right] = [before ?? [], after ?? []];
  if (Array.isArray(before ?? after) && isListOfNamed(left) && isListOfNamed(right))
    return paired(byName(left), byName(right));
  if (Array.isArray(before) && Array.isArray(after)) return paired(byPlace(before), byPlace(after));
  return isObject(before) && isObject(after) ? paired(byField(before), byField(after)) : null;
}

function paired(before: ReadonlyMap<string, unknown>, after: ReadonlyMap<string, unknown>): Parts {
  const keys = new Set([...before.keys(), ...after.keys()]);
  return new Map([...keys].map((key) => [key, [before.get(key), after.get(key)]]));
}

type Named = readonly { readonly name: string }[];

const byName = (list: Named): ReadonlyMap<string, unknown> => new Map(list.map((item) => [`[${item.name}]`, item]));

const byPlace = (list: readonly unknown[]): ReadonlyMap<string, unknown> =>
  new Map(list.map((item, place) => [`[${place}]`, item]));

const byField = (value: Json): ReadonlyMap<string, unknown> =>
  new Map(Object.entries(value).map(([name, field]) => [/^\w+$/.test(name) ? `.${name}` : `[${name}]`, field]));

export function isListOfNamed(list: unknown): list is Named {
  if (!Array.isArray(list)) return false;
  const names = list.map((item) => text(object(item)['name']));
  return names.every((name) => name !== null) && new Set(names).size === names.length;
}
