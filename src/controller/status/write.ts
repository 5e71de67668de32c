import { isDeepStrictEqual } from 'node:util';
import { isOwnOf, type MySQLRollout } from '../../api/rollout.ts';
import type { RolloutStatus } from '../../api/rollout-status.ts';
import { ApiError, isBadRequest, isConflict, isInvalid, isNotFound } from '../../kube/api-error.ts';
import { nameOf } from '../../kube/store.ts';
import type { StatusClient } from '../../objects/status-client.ts';
import { unseenMilliseconds } from '../facts/last-step.ts';
import { type Memory, refusalStands } from '../pass/memory.ts';
import type { Pass } from '../pass/pass.ts';
import { rememberPublished, rememberWritten } from '../pass/remember.ts';
import { answersChangeInSeconds } from '../questions/questions.ts';
import { changesCountFrom, dueAtMilliseconds, reportedAfterSeconds, shownAfterSeconds } from './due.ts';
import { emitChanges } from './emit.ts';
import type { PassReport } from './pass-report.ts';
import type { StatusReport } from './status-report.ts';

// Writes what has changed according to a report.

/**
 * `overtaken` means that another client changed or deleted the object in the meantime. The watch event of that change
 * triggers another reconciliation.
 */
export type StatusWrite = 'written' | 'overtaken' | 'refused';

/**
 * Replaces the status of the MySQLRollout that was read. Resolves to `refused` if nothing was written because the API
 * server's CRD lacks some of the fields. The refusal is remembered.
 */
export async function writeStatus(
  { memory, api, context: { world, fleet, cache } }: Pass<StatusClient>,
  rollout: MySQLRollout,
  status: RolloutStatus,
  priority: 'disrupt' | 'status',
): Promise<StatusWrite> {
  let kept: MySQLRollout;
  try {
    kept = await api.replaceRolloutStatus(rollout, status, priority);
  } catch (error) {
    if (isConflict(error) || isNotFound(error)) return 'overtaken';
    if (!(error instanceof ApiError && (isBadRequest(error) || isInvalid(error)))) throw error;
    const refusal = { message: error.message, withIntent: status.intent !== undefined };
    rememberPublished(memory, { statusRefusal: { ...refusal, atMilliseconds: world.monotonic() } });
    return 'refused';
  }
  rememberWritten(memory, kept);
  const key = nameOf(rollout.metadata);
  const objects = cache.objects(key);
  // A MySQLRollout that belongs to a different cluster has no slot.
  if (objects === null || isOwnOf(objects.cluster, rollout)) fleet.note(key, kept);
  return 'written';
}

export async function writeIntent(
  pass: Pass<StatusClient>,
  rollout: MySQLRollout,
  { status, changes }: StatusReport,
): Promise<StatusWrite> {
  const result = await writeStatus(pass, rollout, status, 'disrupt');
  if (result === 'written') {
    const objects = pass.context.cache.objects(pass.key);
    emitChanges(changes, objects && { objects, rollout }, pass.context);
  }
  return result;
}

/**
 * The number of milliseconds until the next write is due, or `null` if no write becomes due without a change.
 * `statusIn` is the number of milliseconds until the status is due.
 */
export function nextIn(
  { observation, completion }: PassReport,
  statusIn: number | null,
  memory: Memory,
): number | null {
  const { hold, requeueAfterSeconds } = observation.decision;
  const heldFor = (seconds: number): number => (seconds - observation.heldForSeconds) * 1000;
  const delays = [
    statusIn,
    completion.unsettledMilliseconds,
    hold && heldFor(shownAfterSeconds),
    hold && heldFor(reportedAfterSeconds(hold)),
    observation.memory.unseen.writes.length > 0 ? unseenMilliseconds : null,
    refusalStands(memory.published.statusRefusal, observation.nowMilliseconds),
    requeueAfterSeconds && requeueAfterSeconds * 1000,
    ...answersChangeInSeconds(observation).map((seconds) => seconds * 1000),
  ].filter((delay): delay is number => delay !== null && delay > 0);
  return delays.length === 0 ? null : Math.min(...delays);
}

/**
 * Writes the status if it is due. Otherwise resolves to the number of milliseconds until it is due. Resolves to `null`
 * if the status has no changes or was written.
 */
export async function writeWhenDue(
  { observation, status: reported }: PassReport,
  pass: Pass<StatusClient>,
): Promise<number | null> {
  const { rollout, memory, nowMilliseconds } = observation;
  const { published, unseen } = memory;
  if (rollout === null || reported === null) return null;
  const { status, changes } = reported;
  const before = rollout.status ?? {};
  if (isDeepStrictEqual(status, before)) {
    rememberPublished(pass.memory, { changedAtMilliseconds: null });
    return null;
  }
  const refusedFor =
    published.statusRefusal?.withIntent === false ? refusalStands(published.statusRefusal, nowMilliseconds) : 0;
  const changedAtMilliseconds = changesCountFrom(status, before, published.changedAtMilliseconds, nowMilliseconds);
  const dueAt = dueAtMilliseconds(status, before, changedAtMilliseconds, unseen.writes, nowMilliseconds);
  const dueIn = Math.max(refusedFor, dueAt - nowMilliseconds);
  if (dueIn > 0) {
    rememberPublished(pass.memory, { changedAtMilliseconds });
    return dueIn;
  }
  const written = await writeStatus(pass, rollout, status, 'status');
  if (written === 'written') emitChanges(changes, observation, pass.context);
  return null;
}
