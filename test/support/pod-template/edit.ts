import { isObject, type Json, object, objects } from '../../../src/base/json.ts';
import type { InPlaceChange } from '../../../src/core/in-place-changes.ts';
import type { FieldType, Path } from './fields.ts';

/** The value at a path, `undefined` if there is none. */
export const at = (value: unknown, path: Path): unknown =>
  path.reduce<unknown>((within, step) => (within as Json | undefined)?.[step], value);

/** The value with another one at a path. What is missing on the way is made; `undefined` removes. */
export function put(value: unknown, [step, ...rest]: Path, one: unknown): unknown {
  if (step === undefined) return one;
  if (typeof step === 'number') {
    const list = Array.isArray(value) ? [...(value as readonly unknown[])] : [];
    const item = put(list[step], rest, one);
    return item === undefined
      ? list.toSpliced(step, 1)
      : list.with(Math.min(step, list.push(undefined) - 1), item).filter(isGiven);
  }
  const { [step]: within, ...others } = object(value);
  const field = put(within, rest, one);
  return field === undefined ? others : { ...others, [step]: field };
}

const isGiven = (value: unknown): boolean => value !== undefined;

/** A value of the type, another one for each number. */
export function sample(type: FieldType, number: number): unknown {
  switch (type.kind) {
    case 'text':
      return `text-${number}`;
    case 'number':
      return 100 + number;
    case 'boolean':
      return number % 2 === 0;
    case 'list':
      return [sample(type.of, number)];
    case 'map':
      return { one: sample(type.of, number) };
    case 'object': {
      const { name, ...others } = type.fields;
      const [first] = Object.entries(others);
      const given = { ...(name && { name }), ...(first && { [first[0]]: first[1] }) };
      return Object.fromEntries(Object.entries(given).map(([field, of]) => [field, sample(of, number)]));
    }
  }
}

/** The pod or pod template after the resize and the patch of an update in place. */
export function changed(pod: Json, change: InPlaceChange): Json {
  const { labels, annotations } = object(pod['metadata']);
  const spec = object(pod['spec']);
  return {
    ...pod,
    metadata: {
      ...object(pod['metadata']),
      labels: merged(labels, change.labels),
      annotations: merged(annotations, change.annotations),
    },
    spec: {
      ...spec,
      containers: objects(spec['containers']).map((one) => resized(withImage(one, change.containers), change)),
      initContainers: objects(spec['initContainers']).map((one) => withImage(one, change.initContainers)),
    },
  };
}

function withImage(container: Json, images: InPlaceChange['containers']): Json {
  const image = images.find(({ name }) => name === container['name'])?.image;
  return image === undefined ? container : { ...container, image };
}

function resized(container: Json, { resources }: InPlaceChange): Json {
  const own = resources.find(({ name }) => name === container['name']);
  if (own === undefined) return container;
  const given = object(container['resources']);
  const [limits, requests] = [merged(given['limits'], own.limits), merged(given['requests'], own.requests)];
  return { ...container, resources: { ...given, limits, requests } };
}

/** As a JSON merge patch does it. */
function merged(value: unknown, patch: Readonly<Record<string, string | null>>): Json {
  const all = { ...(isObject(value) ? value : {}), ...patch };
  return Object.fromEntries(Object.entries(all).filter(([, one]) => one !== null));
}
