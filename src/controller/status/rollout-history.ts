import type { HistoryEntry, RolloutProgress, RolloutStatus } from '../../api/rollout-status.ts';
import type { Decision } from '../../core/decision.ts';
import { omitUndefined } from '../../moco/json.ts';
import type { Seen } from '../memory/memory.ts';
import { heldForOf } from './held-for.ts';

/**
 * The rollout that has just ended, or `null`. It is complete, or the template changed again before that. `progress` is
 * that of the current update revision, `disrupted` the unreported disruptions of the rollout that ended.
 */
export function finishedRollout(
  { rollout, hold }: RolloutStatus,
  progress: RolloutProgress | null,
  { complete }: Decision,
  { completed }: Seen,
  disrupted: number,
  now: string,
): HistoryEntry | null {
  if (progress !== null && complete) return entry(progress, 'Complete', hold, completed?.at ?? now);
  if (!rollout || progress?.revision === rollout.revision) return null;
  const over = { ...rollout, disruptions: rollout.disruptions + disrupted };
  if (completed?.revision === rollout.revision) return entry(over, 'Complete', hold, completed.at);
  // The same timestamp for both: it is one change of the revision.
  return entry(over, 'Superseded', hold, progress?.startedAt ?? now);
}

function entry(
  rollout: RolloutProgress,
  outcome: string,
  hold: RolloutStatus['hold'],
  finishedAt: string,
): HistoryEntry {
  const { revision, startedAt, disruptions, switchovers, memberDurations, updatedOutOfBand, from, changes } = rollout;
  const { updatedInPlace, resizedInPlace, primaryInPlace, mysqldRestarted, switchoverSeconds } = rollout;
  return omitUndefined<HistoryEntry>({
    revision,
    startedAt,
    finishedAt,
    disruptions,
    switchovers,
    outcome,
    memberDurations,
    updatedOutOfBand,
    updatedInPlace,
    resizedInPlace,
    primaryInPlace,
    mysqldRestarted,
    switchoverSeconds,
    heldFor: heldForOf(rollout, hold, undefined, finishedAt),
    from,
    changes,
  });
}
