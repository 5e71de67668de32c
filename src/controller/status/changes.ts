import type { HistoryEntry, RolloutProgress, RolloutStatus } from '../../api/rollout-status.ts';
import { milliseconds } from '../../base/json.ts';
import { type LeftOver, withoutIntent } from './progress.ts';

/** What has ended since the status was written. It is reported once, with the write that contains it. */
export interface Changes {
  readonly finished: HistoryEntry | null;
  readonly switchover: { readonly outcome: 'done' | 'takenBack'; readonly seconds: number } | null;
  /** Members that restarted at the update revision without a step. */
  readonly outOfBand: readonly number[];
  /** Members whose mysqld restarted because of an update in place. */
  readonly mysqldRestarted: readonly number[];
}

/**
 * @param takenBack the last step withdraws a demotion
 * @param switchoverEndedAt when the last switchover ended, if one did
 */
export function changesOf(
  before: RolloutProgress | undefined,
  after: RolloutProgress | null,
  finished: HistoryEntry | null,
  takenBack: boolean,
  switchoverEndedAt: string,
): Changes {
  const same = before?.revision === after?.revision && before?.startedAt === after?.startedAt;
  const known = same ? before : undefined;
  return {
    finished,
    switchover: switchoverEnded(before, after, takenBack, switchoverEndedAt),
    outOfBand: newOrdinals(known?.updatedOutOfBand, after?.updatedOutOfBand),
    mysqldRestarted: newOrdinals(known?.mysqldRestarted, after?.mysqldRestarted),
  };
}

const newOrdinals = (before: readonly number[] = [], after: readonly number[] = []): readonly number[] =>
  after.filter((ordinal) => !before.includes(ordinal));

/** The status without a settled intent, and without the switchover that may have ended with it. */
export function reportSettled(
  before: RolloutStatus,
  left: LeftOver,
  now: string,
): { status: RolloutStatus; changes: Changes } {
  const status = withoutIntent(before, left);
  const takenBack = before.intent?.step === 'undemote';
  return { status, changes: changesOf(before.rollout, status.rollout ?? null, null, takenBack, now) };
}

function switchoverEnded(
  before: RolloutProgress | undefined,
  after: RolloutProgress | null,
  takenBack: boolean,
  endedAt: string,
): Changes['switchover'] {
  const { askedAt, count = 0 } = before?.tries ?? {};
  if (askedAt === undefined || after?.tries?.askedAt === askedAt) return null;
  const seconds = Math.max(0, ((milliseconds(endedAt) ?? 0) - (milliseconds(askedAt) ?? 0)) / 1000);
  const superseded = after !== null && after.revision !== before?.revision;
  if (superseded || (after?.tries?.count ?? 0) > count) return { outcome: 'takenBack', seconds };
  if (after !== null && after.switchovers > (before?.switchovers ?? 0)) return { outcome: 'done', seconds };
  // Otherwise the intent was written but its step did not happen.
  return takenBack ? { outcome: 'takenBack', seconds } : null;
}
