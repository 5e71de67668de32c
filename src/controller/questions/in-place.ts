import type { Json } from '../../base/json.ts';
import type { World } from '../../base/world.ts';
import type { InPlaceSettings } from '../../core/in-place-changes.ts';
import type { RolloutPolicy } from '../../core/policy.ts';
import type { MemberFacts } from '../../core/snapshot.ts';
import { isForbidden } from '../../kube/api-error.ts';
import { compare } from '../../moco/in-place/compare.ts';
import { imagesNeeded } from '../../moco/in-place/images.ts';
import { withPodDefaults } from '../../moco/in-place/pod-defaults.ts';
import type { ClusterObjects, PodRecord } from '../../moco/records.ts';
import type { ClusterReader } from '../../objects/cluster-reader.ts';
import type { Row } from './asking.ts';
import {
  hasBeenResized,
  type InPlaceReadings,
  imagePlaceOf,
  inPlaceUpdate,
  nothingReadInPlace,
  ofPresentPods,
} from './in-place-facts.ts';
import { fetchedImages } from './preflight-images.ts';

// The question `inPlace`: reads templates and images for updates in place.

/**
 * Images are read again after this time. A node reports its images with its status, every five minutes and when they
 * change, and it may remove an image again.
 */
const againMilliseconds = 60_000;

export const inPlace: Row<'inPlace', InPlaceReadings, object, Pick<MemberFacts, 'inPlace'>> = {
  asks: 'the API server: the templates of both revisions (ControllerRevisions), and whether the images of containers that would restart are on the nodes',
  lasts: `templates do not change; images ${againMilliseconds / 1000} s`,
  silence: 'the member gets a new pod',
  initial: nothingReadInPlace,
  ask: async (_, { observed, api, world }, before) => {
    const readings = await readInPlace(observed, before, api, world, 'lackImages');
    return readings === before ? null : readings;
  },
  keep: (readings, { objects, policy }) =>
    concerned(objects, policy).length === 0 ? nothingReadInPlace : ofPresentPods(readings, objects.pods),
  facts: () => ({}),
  memberFacts: (readings, { objects, policy, ages, nowMilliseconds }, { preflight }) => {
    const willHave = fetchedImages(preflight ?? null, policy, nowMilliseconds);
    return (pod) => ({ inPlace: inPlaceUpdate(pod, objects, policy.inPlaceUpdates, readings, ages, willHave) });
  },
  confirm: null,
  status: { whileOutstanding: 'its hold', shows: '`update` of members' },
};

/** What to assume about nodes that the controller may not read. */
type UnreadNodes = 'haveImages' | 'lackImages';

/**
 * Reads what updates in place of this cluster depend on, unless it is already known: the templates of both revisions,
 * once, and whether the images of containers that would restart are on the nodes. While updates in place are off, reads
 * only for an update that has begun, until it ends. Resolves to the known facts if there is nothing to read. Rejects
 * with `ApiError`.
 */
export async function readInPlace(
  { objects, policy }: { readonly objects: ClusterObjects; readonly policy: Pick<RolloutPolicy, 'inPlaceUpdates'> },
  known: InPlaceReadings,
  api: ClusterReader,
  world: World,
  unreadNodes: UnreadNodes,
): Promise<InPlaceReadings> {
  const { statefulSet } = objects;
  const pods = concerned(objects, policy);
  if (statefulSet === null || pods.length === 0) return nothingReadInPlace;
  const revisions = new Set([statefulSet.updateRevision, ...pods.map(({ revision }) => revision)]);
  let readings = await withTemplates(revisions, objects, known, api);
  if (policy.inPlaceUpdates.mode === 'Never') return readings;
  for (const pod of pods) {
    readings = await withImages(pod, objects, policy.inPlaceUpdates, readings, api, world, unreadNodes);
  }
  return readings;
}

/** Pods that may be updated in place, and pods that have been resized, possibly for a different revision. */
function concerned(
  { statefulSet, pods }: ClusterObjects,
  { inPlaceUpdates }: Pick<RolloutPolicy, 'inPlaceUpdates'>,
): readonly PodRecord[] {
  if (!statefulSet?.observed) return [];
  return pods.filter(({ revision, live }) => {
    if (revision === '' || live === null) return false;
    return revision === statefulSet.updateRevision ? hasBeenResized(live) : inPlaceUpdates.mode !== 'Never';
  });
}

async function withTemplates(
  revisions: ReadonlySet<string>,
  { cluster: { namespace } }: ClusterObjects,
  known: InPlaceReadings,
  api: ClusterReader,
): Promise<InPlaceReadings> {
  if (revisions.size === known.templates.size && [...revisions].every((one) => known.templates.has(one))) return known;
  const read = [...revisions].map(async (revision): Promise<readonly [string, Json | string]> => {
    const template = known.templates.get(revision);
    return [revision, template ?? (await readTemplateOf(namespace, revision, api))];
  });
  return { ...known, templates: new Map(await Promise.all(read)) };
}

/** Reads the template of a revision once: a revision never changes, and a deleted one does not come back. */
async function readTemplateOf(namespace: string, revision: string, api: ClusterReader): Promise<Json | string> {
  try {
    const template = await api.readTemplate(namespace, revision);
    return template === null ? `revision ${revision} is no longer kept` : withPodDefaults(template);
  } catch (error) {
    if (!isForbidden(error)) throw error;
    return `the controller may not read revision ${revision}`;
  }
}

async function withImages(
  pod: PodRecord,
  objects: ClusterObjects,
  settings: InPlaceSettings,
  readings: InPlaceReadings,
  api: ClusterReader,
  world: World,
  unreadNodes: UnreadNodes,
): Promise<InPlaceReadings> {
  const { templates } = readings;
  const [before, after] = [pod.revision, objects.statefulSet?.updateRevision ?? ''].map((name) => templates.get(name));
  if (typeof before !== 'object' || typeof after !== 'object' || !pod.live || !pod.node) return readings;
  const update = compare(pod.live, { before, after }, settings);
  if (update.kind === 'impossible') return readings;
  const now = world.monotonic();
  const asked = imagesNeeded(update.change, pod.live).filter((needed) => {
    const known = readings.images.get(imagePlaceOf(pod, needed));
    return !needed.pulledAlways && !(known && now - known.atMilliseconds < againMilliseconds);
  });
  if (asked.length === 0) return readings;
  const images = new Map(readings.images);
  for (const needed of asked) {
    const report = await api.readImage(pod.node, needed.image);
    const assumed = { present: unreadNodes === 'haveImages', isWhole: false };
    images.set(imagePlaceOf(pod, needed), { ...(report ?? assumed), atMilliseconds: now });
  }
  return { ...readings, images };
}
