import { isDeepStrictEqual } from 'node:util';
import { type Json, object, text } from '../moco/json.ts';
import type { TemplateChange } from './rollout-resource.ts';

/**
 * What differs between two pod templates, by the paths of the fields, images first. Items of a list are known by their
 * names where they have names of their own, else by their place. Values are given of containers' images and of nothing
 * else: environment, arguments and annotations may hold secrets, and the status is read by more people than the pods are.
 */
export function templateChanges(before: Json, after: Json): readonly TemplateChange[] {
  const changes = [...differences(before, after, '')];
  return [...changes.filter(({ path }) => isImage(path)), ...changes.filter(({ path }) => !isImage(path))];
}

const isImage = (path: string): boolean => /^spec\.(?:initContainers|containers)\[[^\]]+\]\.image$/.test(path);

type Parts = ReadonlyMap<string, readonly [before: unknown, after: unknown]>;

function* differences(before: unknown, after: unknown, path: string): Generator<TemplateChange> {
  if (isDeepStrictEqual(before, after)) return;
  const parts = partsOf(before, after);
  if (parts === null) yield changeOf(path, before, after);
  else for (const [part, [left, right]] of parts) yield* differences(left, right, path + (path ? part : part.slice(1)));
}

function changeOf(path: string, before: unknown, after: unknown): TemplateChange {
  if (!isImage(path)) return { path };
  const [from, to] = [text(before), text(after)];
  return { path, ...(from !== null && { from }), ...(to !== null && { to }) };
}

/** What two values consist of, by the ends of their paths; `null` where they are compared as they are. */
function partsOf(before: unknown, after: unknown): Parts | null {
  if (Array.isArray(before ?? after) && isNamed(before ?? []) && isNamed(after ?? [])) {
    return paired(byName(before ?? []), byName(after ?? []));
  }
  if (Array.isArray(before) && Array.isArray(after)) return paired(byPlace(before), byPlace(after));
  if (isObject(before) && isObject(after)) return paired(byField(before), byField(after));
  // Of a container that came or went people want to know the image.
  if (isContainer(before ?? after) && (before === undefined || after === undefined)) {
    return new Map([['.image', [object(before)['image'], object(after)['image']]]]);
  }
  return null;
}

function paired(before: ReadonlyMap<string, unknown>, after: ReadonlyMap<string, unknown>): Parts {
  const keys = new Set([...before.keys(), ...after.keys()]);
  return new Map([...keys].map((key) => [key, [before.get(key), after.get(key)]]));
}

type Named = readonly { readonly name: string }[];

const byName = (list: unknown): ReadonlyMap<string, unknown> =>
  new Map((list as Named).map((item) => [`[${item.name}]`, item]));

const byPlace = (list: readonly unknown[]): ReadonlyMap<string, unknown> =>
  new Map(list.map((item, place) => [`[${place}]`, item]));

/** Without the patch directive that Kubernetes stores in a template. */
function byField(value: Json): ReadonlyMap<string, unknown> {
  const fields = Object.entries(value).filter(([name]) => name !== '$patch');
  return new Map(fields.map(([name, field]) => [/^\w+$/.test(name) ? `.${name}` : `[${name}]`, field]));
}

/** A list whose items have names, and no two the same one. */
function isNamed(list: unknown): list is Named {
  if (!Array.isArray(list)) return false;
  const names = list.map((item) => text(object(item)['name']));
  return names.every((name) => name !== null) && new Set(names).size === names.length;
}

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const isContainer = (value: unknown): boolean => text(object(value)['image']) !== null;
