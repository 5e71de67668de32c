import { isDeepStrictEqual } from 'node:util';
import { type Memory, refusalStands } from '../facts/memory.ts';
import { unseenMilliseconds } from '../facts/own-writes.ts';
import type { Pass } from '../pass/pass.ts';
import { rememberChange } from '../pass/remember.ts';
import { dueAtMilliseconds, reportedAfterSeconds, shownAfterSeconds } from './due.ts';
import { emitNews } from './emit.ts';
import type { Report } from './pass-report.ts';
import type { StatusClient } from './status-client.ts';
import { writeStatus } from './write-status.ts';

/**
 * The milliseconds until more must be written, `statusIn` those until the status is due; `null` if only a change
 * requires that.
 */
export function nextIn({ observation, completion }: Report, statusIn: number | null, memory: Memory): number | null {
  const { hold, requeueAfterSeconds } = observation.decision;
  const heldFor = (seconds: number): number => (seconds - observation.heldForSeconds) * 1000;
  const delays = [
    statusIn,
    completion.unsettledMilliseconds,
    hold && heldFor(shownAfterSeconds),
    hold && heldFor(reportedAfterSeconds(hold)),
    observation.memory.unseen.writes.length > 0 ? unseenMilliseconds : null,
    refusalStands(memory.told.statusRefusal, observation.nowMilliseconds),
    requeueAfterSeconds && requeueAfterSeconds * 1000,
  ].filter((delay): delay is number => delay !== null && delay > 0);
  return delays.length === 0 ? null : Math.min(...delays);
}

/** Resolves to the milliseconds until the status is due, or `null` if it has no changes or was written. */
export async function writeWhenDue(
  { observation, status: reported }: Report,
  pass: Pass<StatusClient>,
): Promise<number | null> {
  const {
    rollout,
    memory: { told, unseen },
    nowMilliseconds,
  } = observation;
  if (rollout === null || reported === null) return null;
  const { status, news } = reported;
  const before = rollout.status ?? {};
  if (isDeepStrictEqual(status, before)) {
    rememberChange(pass.memory, null);
    return null;
  }
  const refusedFor = told.statusRefusal?.withIntent === false ? refusalStands(told.statusRefusal, nowMilliseconds) : 0;
  const dueAt = dueAtMilliseconds(status, before, told.changedAtMilliseconds, unseen.writes, nowMilliseconds);
  const dueIn = Math.max(refusedFor, dueAt - nowMilliseconds);
  if (dueIn > 0) {
    rememberChange(pass.memory, told.changedAtMilliseconds ?? nowMilliseconds);
    return dueIn;
  }
  const written = await writeStatus(pass, rollout, status, 'status');
  if (written === 'written') emitNews(news, observation, pass.context);
  return null;
}
