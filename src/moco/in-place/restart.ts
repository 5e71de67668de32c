import { type Json, milliseconds, object, text, whole } from '../../base/json.ts';
import { jsonOf } from '../../base/text.ts';
import type { InPlaceChange, RestartInPlace } from '../../core/in-place-changes.ts';
import type { Ages } from '../ages.ts';
import { mysqldContainer, restartInPlaceAnnotation, revisionHashLabel } from '../names.ts';
import type { LivePod, PodRecord } from '../records.ts';

// Follows the containers that an update in place restarts, until they run with the new image. Also detects whether
// mysqld restarted as a consequence.

/**
 * If mysqld restarts within this time after the containers, their restart may be the cause: mysqld's probes fail for at
 * most 30 s.
 */
const consequenceMilliseconds = 60_000;
/** Like the limit above, but after a resize, which can take the kubelet five minutes. */
const resizeConsequenceMilliseconds = 360_000;

/**
 * The annotation that the patch adds, or `undefined` if no container restarts. It contains two kinds of run ids from
 * before the patch: that of mysqld, and those of the containers that the kubelet has to restart. So every later leader
 * knows them. It also records whether mysqld restarted after the preceding resize.
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
 * Whether mysqld restarted between the resize for the update revision and the patch for it. The two times that are
 * compared come from the clocks of the API server and of the node.
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

/** The state of the last update in place. Call within `ages.observe`. */
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

/** Whether mysqld restarted because of the last update in place. Later restarts have other causes. */
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

/** The containers that are not yet known to be ready with the new image. */
function awaitedOf(pod: PodRecord, { containers }: Note): readonly string[] {
  return Object.entries(containers)
    .filter(([name, before]) => !pod.live?.observed || !runsAnew(pod, name, object(before)))
    .map(([name]) => name);
}

/**
 * A new container ID proves that the container was started again. The image ID proves nothing: it may stay the same,
 * because two names can refer to one image.
 */
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
  /** Whether mysqld had already restarted before the patch. */
  readonly mysqldRestarted: boolean;
}

/**
 * The note about the pod's current revision. `null` if there is no such note, or if `restartNote` cannot have written
 * it.
 */
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
