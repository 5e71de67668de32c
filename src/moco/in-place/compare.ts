import { type Json, named, object, objects, text } from '../../base/json.ts';
import type { ContainerImage, InPlaceChange, InPlaceSettings } from '../../core/in-place-changes.ts';
import { mostContainers } from '../projections.ts';
import type { LivePod } from '../records.ts';
import { type TemplateDifference, templateDifferences } from '../template-changes.ts';
import { whyKept } from './metadata.ts';
import { leafChange, leafOf, leftovers, resourcesOf } from './resources.ts';

// Decides whether a patch can turn a running pod into a pod of the update revision, and which patch that is.

/**
 * The pod templates of the revision that the pod was created from, and of the update revision, both completed by
 * `withPodDefaults`.
 */
export interface Templates {
  readonly before: Json;
  readonly after: Json;
}

type ComparedSettings = Pick<InPlaceSettings, 'containers' | 'resources' | 'metadata'>;

interface Compared {
  readonly live: LivePod;
  readonly templates: Templates;
  readonly settings: ComparedSettings;
}

export type Comparison =
  | { readonly kind: 'possible'; readonly change: InPlaceChange }
  | { readonly kind: 'impossible'; readonly reasons: readonly string[] };

/**
 * The maximum number of changes. No update in place needs so many, and each is compared with every container of every
 * member.
 */
export const mostDifferences = 256;

/** What one difference means: a part of the patch, nothing, or the reason why no patch is possible. */
type Part =
  | { readonly kind: 'labels' | 'annotations'; readonly key: string; readonly value: string | null }
  | { readonly kind: 'containers' | 'initContainers'; readonly name: string; readonly image: string }
  | { readonly kind: 'none' }
  | { readonly kind: 'impossible'; readonly reason: string };

/**
 * Decides how a running pod can become a pod of the update revision. Compares three values: those of the two revisions,
 * and the value of the running pod. If the running pod's value differs from both, a person or another program has
 * changed it, and the patch does not overwrite it.
 */
export function compare(live: LivePod, templates: Templates, settings: ComparedSettings): Comparison {
  const { before, after } = templates;
  const containers = Math.max(...[before, after].map(containersIn));
  if (containers > mostContainers) {
    const reason = `expected a pod template of at most ${mostContainers} containers, got ${containers}`;
    return { kind: 'impossible', reasons: [reason] };
  }
  const differences = differencesOf(before, after);
  if (differences.length > mostDifferences) {
    const reason = `expected at most ${mostDifferences} changes of the pod template, got ${differences.length}`;
    return { kind: 'impossible', reasons: [reason] };
  }
  const leaves = differences.map(leafOf).filter((leaf) => leaf !== null);
  const quantities = [...leaves, ...leftovers(live, after, leaves)].map((leaf) =>
    leafChange(leaf, live, after, settings),
  );
  const others = differences.filter((one) => leafOf(one) === null);
  const parts = others.map((one) => partOf(one, { live, templates, settings }));
  const reasons = [...parts, ...quantities].flatMap((part) => (part.kind === 'impossible' ? [part.reason] : []));
  if (reasons.length > 0) return { kind: 'impossible', reasons };
  const resized = quantities.flatMap((one) => (one.kind === 'has' && one.resized ? [one.container] : []));
  return {
    kind: 'possible',
    change: {
      resources: resourcesOf(quantities),
      resized: [...new Set(resized)],
      labels: values(parts, 'labels'),
      annotations: values(parts, 'annotations'),
      containers: images(parts, 'containers'),
      initContainers: images(parts, 'initContainers'),
    },
  };
}

const containersIn = ({ spec }: Json): number =>
  [object(spec)['containers'], object(spec)['initContainers']].reduce<number>(
    (sum, list) => sum + objects(list).length,
    0,
  );

/** Caches differences: templates never change after they have been read, and every pass compares every member. */
const differencesKnown = new WeakMap<Json, WeakMap<Json, readonly TemplateDifference[]>>();

function differencesOf(before: Json, after: Json): readonly TemplateDifference[] {
  const known = differencesKnown.get(before) ?? new WeakMap<Json, readonly TemplateDifference[]>();
  differencesKnown.set(before, known);
  const differences = known.get(after) ?? templateDifferences(before, after);
  known.set(after, differences);
  return differences;
}

function values(parts: readonly Part[], kind: 'labels' | 'annotations'): Readonly<Record<string, string | null>> {
  return Object.fromEntries(
    parts.flatMap((part) => ('key' in part && part.kind === kind ? [[part.key, part.value] as const] : [])),
  );
}

function images(parts: readonly Part[], kind: 'containers' | 'initContainers'): readonly ContainerImage[] {
  return parts.flatMap((part) =>
    'name' in part && part.kind === kind ? [{ name: part.name, image: part.image }] : [],
  );
}

const impossible = (reason: string): Part => ({ kind: 'impossible', reason });

const metadataPath = /^metadata\.(labels|annotations)(?:\.(\w+)|\[(.+)\])$/;
const imagePath = /^spec\.(containers|initContainers)\[([^\]]+)\]\.image$/;

function partOf(difference: TemplateDifference, compared: Compared): Part {
  const { path, before, after } = difference;
  const [, metadata, word, other = ''] = metadataPath.exec(path) ?? [];
  if (metadata !== undefined) {
    return metadataPart(difference, metadata as 'labels' | 'annotations', word ?? other, compared);
  }
  const [, list, name] = imagePath.exec(path) ?? [];
  if (name !== undefined) return imagePart(difference, list as 'containers' | 'initContainers', name, compared);
  const isOrder = [before, after].every(Array.isArray);
  return impossible(`${isOrder ? 'the order of ' : ''}${path} can't change in a running pod`);
}

function metadataPart(
  { path, before, after }: TemplateDifference,
  kind: 'labels' | 'annotations',
  key: string,
  { live, templates, settings: { metadata } }: Compared,
): Part {
  const why = whyKept(kind, key, [templates.before, templates.after], metadata);
  if (why !== null) return impossible(`the ${kind === 'labels' ? 'label' : 'annotation'} ${key} changes, and ${why}`);
  const value = live[kind][key];
  if (value === after) return { kind: 'none' };
  return value === before ? { kind, key, value: text(after) } : impossible(changedByOthers(path));
}

function imagePart(
  { path, before, after }: TemplateDifference,
  list: 'containers' | 'initContainers',
  name: string,
  { live, templates, settings: { containers } }: Compared,
): Part {
  const image = text(after);
  if (image === null) return impossible(`${path} can't be removed from a running pod`);
  const isAllowed =
    list === 'containers' ? containers.includes(name) : goesAlong(name, text(before), image, templates, containers);
  if (!isAllowed) return impossible(`${path} differs, and inPlace.containers does not contain ${name}`);
  const value = live[list].find((one) => one.name === name)?.image;
  if (value === image) return { kind: 'none' };
  return value === before ? { kind: list, name, image } : impossible(changedByOthers(path));
}

const changedByOthers = (path: string): string => `another program has changed ${path} of the pod`;

/**
 * Whether this is an init container that has finished and that has the same image as a container that may change, both
 * before and after the change.
 */
function goesAlong(
  name: string,
  before: string | null,
  after: string,
  templates: Templates,
  allowed: readonly string[],
): boolean {
  const init = named(object(templates.after['spec'])['initContainers'], name);
  return (
    init['restartPolicy'] === undefined &&
    allowed.some(
      (container) => imageOf(templates.before, container) === before && imageOf(templates.after, container) === after,
    )
  );
}

const imageOf = ({ spec }: Json, container: string): string | null =>
  text(named(object(spec)['containers'], container)['image']);
