import { type Json, milliseconds, object, text, whole } from '../../base/json.ts';
import { jsonOf } from '../../base/text.ts';
import type { InPlaceChange, RestartInPlace } from '../../core/in-place-changes.ts';
import type { Ages } from '../ages.ts';
import { mysqldContainer, restartInPlaceAnnotation, revisionHashLabel } from '../names.ts';
import type { LivePod, PodRecord } from '../records.ts';

// Follows containers that an update in place restarts until they run with the new image, and detects a mysqld that
// restarted along with them.

/** How long after the containers mysqld may restart because of them: its probes fail for at most 30 s. */
const consequenceMilliseconds = 60_000;
/** The same after a resize, which the kubelet may take five minutes to make. */
const resizeConsequenceMilliseconds = 360_000;

/**
 * The annotation that is part of the patch, so that any later leader knows which containers the kubelet has to restart:
 * it has the ids of their runs before the patch, and that of mysqld's run. It also records whether mysqld restarted
 * after the preceding resize. `undefined` if nothing restarts.
 */
export function restartNote(
  change: InPlaceChange,
  revision: string,
  pod: Pick<PodRecord, 'live' | 'containers'>,
): string | undefined {
  const { containers } = change;
  const mysqldRestarted = hasRestartedResized(pod, change);
  if (containers.length === 0 && !mysqldRestarted) return undefined;
  const before = containers.map(({ name }) => [name, { id: idOf(pod.live, name), restarts: restartsOf(pod, name) }]);
  return JSON.stringify({
    revision,
    mysqld: idOf(pod.live, mysqldContainer),
    containers: Object.fromEntries(before),
    ...(mysqldRestarted && { mysqldRestarted }),
  });
}

/**
 * mysqld restarted between the resize for the update revision and its patch. Uses two clocks: the API server's and the
 * node's.
 */
export function hasRestartedResized(
  { live, containers }: Pick<PodRecord, 'live' | 'containers'>,
  { resized }: Pick<InPlaceChange, 'resized'>,
): boolean {
  const resizedAt = milliseconds(live?.resizedAt ?? null);
  const mysqld = find(containers, mysqldContainer);
  const startedAt = milliseconds(mysqld?.startedAt ?? null);
  if (resized.length === 0 || resizedAt === null || startedAt === null || mysqld?.restarts === 0) return false;
  return startedAt >= resizedAt && startedAt < resizedAt + resizeConsequenceMilliseconds;
}

const idOf = (live: LivePod | null, name: string): string | null => find(live?.containers ?? [], name)?.id ?? null;

const restartsOf = ({ containers }: Pick<PodRecord, 'containers'>, name: string): number =>
  find(containers, name)?.restarts ?? 0;

/** The result of the last update in place. Call within `ages.observe`. */
export function restartInPlace(pod: PodRecord, ages: Ages): RestartInPlace | null {
  const note = noteOf(pod);
  if (note === null) return null;
  const { revision, containers } = note;
  const awaited = awaitedOf(pod, note);
  const isDone = awaited.length === 0;
  const since = ages.since(pod, `in place ${revision}`, isDone ? 'done' : 'awaited', lastStart(pod, note));
  return {
    restarts: Object.fromEntries(
      Object.entries(containers).map(([name, before]) => [name, restartsBefore(before) + 1]),
    ),
    awaited,
    doneForSeconds: isDone ? since : 0,
    mysqldRestarted: restartsMysqld(pod, note),
  };
}

/** mysqld restarted because of the last update in place. Later restarts have other causes. */
export function hasMysqldRestarted(pod: PodRecord): boolean {
  const note = noteOf(pod);
  return note !== null && restartsMysqld(pod, note);
}

function restartsMysqld(pod: PodRecord, note: Note): boolean {
  if (note.mysqldRestarted) return true;
  const id = idOf(pod.live, mysqldContainer);
  if (note.mysqld === null || id === null || id === note.mysqld) return false;
  const started = milliseconds(find(pod.containers, mysqldContainer)?.startedAt ?? null);
  const restarted = lastStart(pod, note);
  const isLater = started !== null && restarted !== null && started >= restarted + consequenceMilliseconds;
  return awaitedOf(pod, note).length > 0 || !isLater;
}

/** The containers that are not yet known to run the new image and to be ready. */
function awaitedOf(pod: PodRecord, { containers }: Note): readonly string[] {
  return Object.entries(containers)
    .filter(([name, before]) => !pod.live?.observed || !runsAnew(pod, name, object(before)))
    .map(([name]) => name);
}

/** A new id proves a new run. The image id may stay the same: two names can refer to one image. */
function runsAnew(pod: PodRecord, name: string, before: Json): boolean {
  const container = find(pod.containers, name);
  const id = idOf(pod.live, name);
  return container?.state === 'running' && container.ready && id !== null && id !== before['id'];
}

function lastStart({ containers }: PodRecord, note: Note): number | null {
  const names = Object.keys(note.containers);
  const starts = containers.filter(({ name }) => names.includes(name)).map(({ startedAt }) => milliseconds(startedAt));
  const known = starts.filter((start) => start !== null);
  return known.length === 0 ? null : Math.max(...known);
}

const restartsBefore = (before: unknown): number => whole(object(before)['restarts'], 0);

export const find = <One extends { readonly name: string }>(list: readonly One[], name: string): One | undefined =>
  list.find((one) => one.name === name);

interface Note {
  readonly revision: string;
  readonly mysqld: string | null;
  readonly containers: Json;
  /** mysqld had restarted even before the patch. */
  readonly mysqldRestarted: boolean;
}

/** The note of the revision that the pod has. `null` without one, or if `restartNote` cannot have written it. */
function noteOf({ live }: PodRecord): Note | null {
  const written = live?.annotations[restartInPlaceAnnotation];
  if (live === null || written === undefined) return null;
  const read = object(jsonOf(written));
  const revision = text(read['revision']);
  if (revision === null || revision !== live.labels[revisionHashLabel]) return null;
  return {
    revision,
    mysqld: text(read['mysqld']),
    containers: object(read['containers']),
    mysqldRestarted: read['mysqldRestarted'] === true,
  };
}
