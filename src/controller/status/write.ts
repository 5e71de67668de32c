import { isDeepStrictEqual } from 'node:util';
import type { MySQLRollout } from '../../api/rollout.ts';
import { refusalStands } from '../facts/known.ts';
import { unseenMilliseconds } from '../facts/own-writes.ts';
import type { ClusterState } from '../memory/cluster-memory.ts';
import { observe } from '../pass/observe.ts';
import { rememberChange } from '../pass/remember.ts';
import { writeCompletion } from './complete-condition.ts';
import { dueAtMilliseconds } from './due.ts';
import { emit, emitNews } from './emit.ts';
import { removeEndedOverrides } from './ended-overrides.ts';
import type { Report } from './pass-report.ts';
import type { ReportContext } from './report-context.ts';
import { reportedAfterSeconds, shownAfterSeconds } from './shown.ts';
import { writeStatus } from './write-status.ts';

/**
 * Writes what users see: Events, metrics, the log, the status of the MySQLRollout, and the condition of the
 * MySQLCluster. Resolves to the milliseconds until more must be written, or `null` if only a change requires that.
 */
export async function write(
  report: Report,
  state: ClusterState,
  context: ReportContext,
  signal: AbortSignal,
): Promise<number | null> {
  const { observation, completion } = report;
  const { hold, requeueAfterSeconds } = observation.decision;
  emit(report, state, context);
  await removeEndedOverrides(observation, state, context, signal);
  let statusIn: number | null = null;
  try {
    statusIn = await writeWhenDue(report, state, context, signal);
  } finally {
    // The condition of the MySQLCluster is kept correct even if the MySQLRollout cannot be written.
    const live = (...[objects, rollout]: [Parameters<typeof observe>[0], MySQLRollout | null]) =>
      observe(objects, rollout, state, context, 'live');
    await writeCompletion(completion, observation, live, context.api, signal);
  }
  const heldFor = (seconds: number): number => (seconds - observation.heldForSeconds) * 1000;
  const delays = [
    statusIn,
    completion.unsettledMilliseconds,
    hold && heldFor(shownAfterSeconds),
    hold && heldFor(reportedAfterSeconds(hold)),
    observation.memory.ownWrites.length > 0 ? unseenMilliseconds : null,
    refusalStands(state.statusRefusal, observation.nowMilliseconds),
    requeueAfterSeconds && requeueAfterSeconds * 1000,
  ].filter((delay): delay is number => delay !== null && delay > 0);
  return delays.length === 0 ? null : Math.min(...delays);
}

/** Resolves to the milliseconds until the status is due, or `null` if it has no changes or was written. */
async function writeWhenDue(
  { observation, status: reported }: Report,
  state: ClusterState,
  context: ReportContext,
  signal: AbortSignal,
): Promise<number | null> {
  const { rollout, memory, nowMilliseconds } = observation;
  if (rollout === null || reported === null) return null;
  const { status, news } = reported;
  const before = rollout.status ?? {};
  if (isDeepStrictEqual(status, before)) {
    rememberChange(state, null);
    return null;
  }
  const refusedFor =
    memory.statusRefusal?.withIntent === false ? refusalStands(memory.statusRefusal, nowMilliseconds) : 0;
  const dueIn = Math.max(refusedFor, dueAtMilliseconds(status, before, memory, nowMilliseconds) - nowMilliseconds);
  if (dueIn > 0) {
    rememberChange(state, memory.changedAtMilliseconds ?? nowMilliseconds);
    return dueIn;
  }
  const written = await writeStatus(context, rollout, status, state, 'status', signal);
  if (written === 'written') emitNews(news, observation, context);
  return null;
}
