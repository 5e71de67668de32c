import { type HistoryEntry, mostHeldFor, ofEveryRollout, type RolloutProgress } from '../../api/rollout-progress.ts';
import { type RolloutStatus } from '../../api/rollout-status.ts';
import { milliseconds, omitUndefined } from '../../base/json.ts';
import type { UnreportedStep } from '../facts/last-step.ts';
import type { StatusContext } from './status-context.ts';

/**
 * The rollout that has just ended, or `null`. A rollout ends when it is complete, or when the template changes before
 * it is complete. `progress` is the progress of the rollout to the current update revision.
 */
export function finishedRollout(
  { before: { rollout, hold }, decision: { complete }, memory, ended, now }: StatusContext,
  progress: RolloutProgress | null,
): HistoryEntry | null {
  const { completed } = memory.seen;
  if (progress !== null && complete) return entry(progress, 'Complete', hold, completed?.at ?? now);
  if (!rollout || progress?.revision === rollout.revision) return null;
  const over = { ...rollout, disruptions: rollout.disruptions + disruptedFor(rollout.revision, ended) };
  if (completed?.revision === rollout.revision) return entry(over, 'Complete', hold, completed.at);
  // Both rollouts get the same timestamp: the change of the revision ends one and starts the other.
  return entry(over, 'Superseded', hold, progress?.startedAt ?? now);
}

/** How many members a step disrupted, if the step has ended and was for this revision. */
export const disruptedFor = (revision: string, ended: UnreportedStep | null): number =>
  ended?.revision === revision ? ended.disrupted : 0;

function entry(
  rollout: RolloutProgress,
  outcome: string,
  hold: RolloutStatus['hold'],
  finishedAt: string,
): HistoryEntry {
  const kept = Object.entries(rollout).filter(([field]) => field in ofEveryRollout);
  return omitUndefined<HistoryEntry>({
    ...(Object.fromEntries(kept) as unknown as Pick<RolloutProgress, keyof typeof ofEveryRollout>),
    finishedAt,
    outcome,
    heldFor: heldForOf(rollout, hold, undefined, finishedAt),
  });
}

type Rollout = Pick<RolloutProgress, 'heldFor' | 'startedAt'>;
type Shown = RolloutStatus['hold'];

/**
 * How long each rule has held the rollout so far. The time of hold `before` is added once that hold has ended: then
 * `after` is a different hold, or there is none. Time before the start of the rollout does not count.
 */
export function heldForOf(
  { heldFor = [], startedAt }: Rollout,
  before: Shown,
  after: Shown,
  now: string,
): RolloutProgress['heldFor'] {
  const goesOn = before?.rule === after?.rule && before?.since === after?.since;
  const seconds = before === undefined || goesOn ? 0 : secondsBetween([before.since, startedAt], now);
  if (before === undefined || seconds === 0) return heldFor.length === 0 ? undefined : heldFor;
  const known = heldFor.find(({ rule }) => rule === before.rule)?.seconds ?? 0;
  const others = heldFor.filter(({ rule }) => rule !== before.rule);
  return [...others, { rule: before.rule, seconds: known + seconds }]
    .toSorted((one, other) => other.seconds - one.seconds)
    .slice(0, mostHeldFor);
}

/** Whole seconds from the latest timestamp in `from` to `until`; 0 if the clock was set back. */
export function secondsBetween(from: readonly (string | undefined)[], until: string): number {
  const starts = from.map((one) => milliseconds(one ?? null)).filter((one) => one !== null);
  const end = milliseconds(until);
  return starts.length === 0 || end === null ? 0 : Math.max(0, Math.round((end - Math.max(...starts)) / 1000));
}
