import type { HistoryEntry, RolloutProgress, RolloutStatus } from '../../api/rollout-status.ts';
import type { Decision } from '../../core/decision.ts';
import type { Memory } from '../observe/cluster-state.ts';
import { omitUndefined } from '../observe/omit-undefined.ts';

/**
 * The rollout that has just ended, or `null`. It is complete, or the template changed again before that. `progress` is
 * that of the current update revision, `disrupted` the unreported disruptions of the rollout that ended.
 */
export function finishedRollout(
  { rollout }: RolloutStatus,
  progress: RolloutProgress | null,
  { complete }: Decision,
  { completed }: Memory,
  disrupted: number,
  now: string,
): HistoryEntry | null {
  if (progress !== null && complete) return { ...entry(progress, 'Complete'), finishedAt: completed?.at ?? now };
  if (!rollout || progress?.revision === rollout.revision) return null;
  const over = { ...rollout, disruptions: rollout.disruptions + disrupted };
  if (completed?.revision === rollout.revision) return { ...entry(over, 'Complete'), finishedAt: completed.at };
  // The same timestamp for both: it is one change of the revision.
  return { ...entry(over, 'Superseded'), finishedAt: progress?.startedAt ?? now };
}

function entry(rollout: RolloutProgress, outcome: string): Omit<HistoryEntry, 'finishedAt'> {
  const { revision, startedAt, disruptions, switchovers, memberDurations, updatedOutOfBand, from, changes } = rollout;
  const { updatedInPlace, mysqldRestarted } = rollout;
  return omitUndefined<Omit<HistoryEntry, 'finishedAt'>>({
    revision,
    startedAt,
    disruptions,
    switchovers,
    outcome,
    memberDurations,
    updatedOutOfBand,
    updatedInPlace,
    mysqldRestarted,
    from,
    changes,
  });
}
