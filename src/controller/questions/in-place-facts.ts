import type { Json } from '../../base/json.ts';
import type { InPlaceSettings, InPlaceUpdate } from '../../core/in-place-changes.ts';
import { type NotAsked, notAsked } from '../../core/on-demand-facts.ts';
import type { Ages } from '../../moco/ages.ts';
import { compare } from '../../moco/in-place/compare.ts';
import { type ImageNeeded, type ImageReport, imagesNeeded } from '../../moco/in-place/images.ts';
import { withResize } from '../../moco/in-place/resize.ts';
import { hasMysqldRestarted, hasRestartedResized } from '../../moco/in-place/restart.ts';
import type { ClusterObjects, LivePod, PodRecord } from '../../moco/records.ts';

// The facts about updates in place that follow from the answers to the question `inPlace`.

/**
 * The pod templates of revisions, with `withPodDefaults` applied. If a template cannot be read, a message that says
 * why.
 */
export type TemplatesRead = ReadonlyMap<string, Json | string>;

/** Whether a node has an image, and the time on the monotonic clock at which that was read. */
export type ImageReading = ImageReport & { readonly atMilliseconds: number };

/** The facts apart from pods that updates in place depend on, as they were last read. */
export interface InPlaceReadings {
  readonly templates: TemplatesRead;
  /** The image readings, by node and image. */
  readonly images: ReadonlyMap<string, ImageReading>;
  /** The API server's refusals of dry runs, by the uid of the pod. */
  readonly refusals: ReadonlyMap<string, { readonly revision: string; readonly message: string }>;
  /** The revision for which the dry run of a pod was accepted, by the uid of the pod. */
  readonly accepted: ReadonlyMap<string, string>;
}

export const nothingReadInPlace: InPlaceReadings = {
  templates: new Map(),
  images: new Map(),
  refusals: new Map(),
  accepted: new Map(),
};

/**
 * The result of a dry run of an update in place. `refusal` is the API server's message, or `null` if it accepts the
 * update.
 */
export interface InPlaceDryRun {
  /** The uid of the pod. */
  readonly uid: string;
  readonly refusal: string | null;
}

/**
 * Adds the results of dry runs to the readings. If the update of a member in place was refused, the member is replaced
 * instead, until the update revision changes.
 */
export function withDryRuns(
  known: InPlaceReadings,
  revision: string,
  dryRuns: readonly InPlaceDryRun[],
): InPlaceReadings {
  const accepted = new Map(known.accepted);
  const refusals = new Map(known.refusals);
  for (const { uid, refusal } of dryRuns) {
    if (refusal === null) accepted.set(uid, revision);
    else refusals.set(uid, { revision, message: refusal });
  }
  return { ...known, accepted, refusals };
}

/**
 * Forgets the dry runs of pods that are gone. A pinned member may stay stale through many rollouts of the other
 * members.
 */
export function ofPresentPods(known: InPlaceReadings, pods: readonly Pick<PodRecord, 'uid'>[]): InPlaceReadings {
  const isPresent = ([uid]: readonly [string, unknown]): boolean => pods.some((pod) => pod.uid === uid);
  if ([...known.refusals, ...known.accepted].every(isPresent)) return known;
  return {
    ...known,
    refusals: new Map([...known.refusals].filter(isPresent)),
    accepted: new Map([...known.accepted].filter(isPresent)),
  };
}

/**
 * How a stale pod can reach the update revision. A pod with the label of the update revision is still stale if it was
 * resized for an intermediate revision. `null` if the pod is not stale, or if updates in place are off and none has
 * begun. `notAsked` until the revisions are read.
 *
 * @param willHave whether an image that the node does not report will arrive before anything restarts (`preflight`)
 */
export function inPlaceUpdate(
  pod: PodRecord,
  { statefulSet, pods }: ClusterObjects,
  settings: InPlaceSettings,
  readings: InPlaceReadings,
  ages: Ages,
  willHave: (node: string, reading: ImageReading | undefined) => boolean = () => false,
): InPlaceUpdate | NotAsked | null {
  const revision = statefulSet?.updateRevision ?? '';
  const hasLabel = pod.revision === revision;
  const isOff = settings.mode === 'Never';
  if (pod.live === null || revision === '' || (hasLabel ? !hasBeenResized(pod.live) : isOff)) return null;
  const [before, after] = [pod.revision, revision].map((name) => readings.templates.get(name));
  if (typeof before !== 'object' || typeof after !== 'object') {
    const why = [before, after].find((one) => typeof one === 'string');
    if (why === undefined) return notAsked;
    return hasLabel ? null : impossible(why);
  }
  const update = withResize(compare(pod.live, { before, after }, settings), pod, ages);
  const isToBeResized = update.kind === 'impossible' || update.change.resources.length > 0;
  if (hasLabel && !isToBeResized && update.resize === null) return null;
  if (isOff && isToBeResized) return impossible('it was resized for another revision, and updates in place are off');
  const refusal = readings.refusals.get(pod.uid);
  if (refusal?.revision === revision)
    return impossible(`the API server refuses it (InPlaceRefused): ${refusal.message}`);
  if (update.kind === 'impossible') return update;
  const { containers, resources } = update.change;
  if (containers.length + resources.length === 0) return update;
  const restarted = pods.find((one) => one.uid !== pod.uid && hasRestartedFor(one, revision, settings, readings));
  if (restarted) return impossible(`mysqld of ${restarted.name} restarted when its pod was changed for this revision`);
  const missing = imagesNeeded(update.change, pod.live).filter((needed) => {
    const reading = readings.images.get(imagePlaceOf(pod, needed));
    return needed.pulledAlways || !(reading?.present || willHave(pod.node ?? '', reading));
  });
  return missing.length === 0
    ? update
    : { kind: 'impossible', reasons: missing.map((needed) => whyMissing(pod, needed)) };
}

/**
 * Whether mysqld restarted because of the update in place to this revision, even if the pod is only resized and not
 * patched yet.
 */
function hasRestartedFor(
  pod: PodRecord,
  updateRevision: string,
  settings: InPlaceSettings,
  { templates }: InPlaceReadings,
): boolean {
  if (pod.revision === updateRevision) return hasMysqldRestarted(pod);
  const [before, after] = [pod.revision, updateRevision].map((name) => templates.get(name));
  if (pod.live === null || typeof before !== 'object' || typeof after !== 'object') return false;
  const update = compare(pod.live, { before, after }, settings);
  return update.kind === 'possible' && hasRestartedResized(pod, update.change);
}

export const hasBeenResized = ({ containers }: LivePod): boolean =>
  containers.some(({ resized }) => resized.length > 0);

const impossible = (reason: string): InPlaceUpdate => ({ kind: 'impossible', reasons: [reason] });

export const imagePlaceOf = ({ node }: PodRecord, { image }: ImageNeeded): string => `${node ?? ''} ${image}`;

const whyMissing = ({ node }: PodRecord, { container, image, pulledAlways }: ImageNeeded): string =>
  pulledAlways
    ? `${container} would not run until the registry answers, because its imagePullPolicy is Always`
    : `${container} would not run while its image is pulled, and node ${node ?? 'unknown'} does not report ${image}`;
