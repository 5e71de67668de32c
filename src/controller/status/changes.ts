import type { HistoryEntry, RolloutProgress } from '../../api/rollout-progress.ts';
import type { RolloutStatus } from '../../api/rollout-status.ts';
import { milliseconds } from '../../base/json.ts';
import { type LeftOver, withoutIntent } from './progress.ts';

// What ended between two statuses. Events and metrics report it.

/** What has ended since the status was last written. It is reported once, when the status that shows it is written. */
export interface Changes {
  readonly finished: HistoryEntry | null;
  readonly switchover: { readonly outcome: 'done' | 'takenBack'; readonly seconds: number } | null;
  /** Members that restarted at the update revision although no step of this program restarted them. */
  readonly outOfBand: readonly number[];
  /** Members whose mysqld restarted because of an update in place. */
  readonly mysqldRestarted: readonly number[];
  /** Overrides and pauses that users had set and that have ended. */
  readonly ended: readonly EndedSetting[];
}

/**
 * `note` is a sentence without a full stop. It names the user who set the override or the pause, if the user is known.
 */
export interface EndedSetting {
  readonly reason: 'OverrideEnded' | 'PauseEnded';
  readonly note: string;
}

/** The overrides and the pause that are in force in the stored status but not in the new one. */
export function endedSettings(
  before: RolloutStatus['settings'] = {},
  after: RolloutStatus['settings'] = {},
  nowTimestamp: string,
): readonly EndedSetting[] {
  const now = milliseconds(nowTimestamp) ?? 0;
  const how = (until: string | undefined): string => {
    if (until === undefined) return 'was withdrawn; it had no end';
    return (milliseconds(until) ?? 0) <= now ? `ended at ${until}` : `was withdrawn before its end at ${until}`;
  };
  const setBy = (author: string | undefined): string => (author === undefined ? '' : `, which ${author} had set,`);
  const stillOverridden = (after.overrides?.value ?? []).map(({ rule }) => rule);
  const overrides = (before.overrides?.value ?? [])
    .filter(({ rule }) => !stillOverridden.includes(rule))
    .map(({ rule, until, by }) => ({
      reason: 'OverrideEnded' as const,
      note: `the override of ${rule}${setBy(by)} ${how(until)}: the rule is in force again`,
    }));
  const isOver = before.paused?.value === true && after.paused?.value === false;
  const { by, until } = before.pause?.value ?? {};
  const pauses = isOver ? [{ reason: 'PauseEnded' as const, note: `the pause${setBy(by)} ${how(until)}` }] : [];
  return [...overrides, ...pauses];
}

/**
 * @param takenBack whether the last step withdraws a demotion
 * @param switchoverEndedAt when the last switchover ended, if there was one
 */
export function changesOf(
  before: RolloutProgress | undefined,
  after: RolloutProgress | null,
  finished: HistoryEntry | null,
  takenBack: boolean,
  switchoverEndedAt: string,
  ended: readonly EndedSetting[] = [],
): Changes {
  const same = before?.revision === after?.revision && before?.startedAt === after?.startedAt;
  const known = same ? before : undefined;
  return {
    finished,
    switchover: switchoverEnded(before, after, takenBack, switchoverEndedAt),
    outOfBand: newOrdinals(known?.updatedOutOfBand, after?.updatedOutOfBand),
    mysqldRestarted: newOrdinals(known?.mysqldRestarted, after?.mysqldRestarted),
    ended,
  };
}

const newOrdinals = (before: readonly number[] = [], after: readonly number[] = []): readonly number[] =>
  after.filter((ordinal) => !before.includes(ordinal));

/** The status after an intent was settled. A switchover that ended together with the intent is removed as well. */
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
  // If no demotion was withdrawn, the intent was written but its step did not happen.
  return takenBack ? { outcome: 'takenBack', seconds } : null;
}
