import type { Decision } from '../core/decision.ts';
import { defined } from './defined.ts';
import type { CompletedRollout, HistoryEntry, RolloutProgress, RolloutStatus } from './rollout-resource.ts';

/**
 * The rollout that is over now, or `null`: it has come to its end, or the template has changed again under it, whatever
 * had been reached. `progress` is the one of the present update revision, `disrupted` what has not been told of that
 * which is over.
 */
export function finishedRollout(
  { rollout }: RolloutStatus,
  progress: RolloutProgress | null,
  { complete }: Decision,
  disrupted: number,
): Omit<HistoryEntry, 'finishedAt'> | null {
  if (progress !== null && complete) return entry(progress, 'Complete');
  if (!rollout || progress?.revision === rollout.revision) return null;
  return entry({ ...rollout, disruptions: rollout.disruptions + disrupted }, 'Superseded');
}

function entry(
  { revision, startedAt, disruptions, switchovers, memberSeconds, updatedOutOfTurn, from, changes }: RolloutProgress,
  outcome: string,
): Omit<HistoryEntry, 'finishedAt'> {
  return defined<Omit<HistoryEntry, 'finishedAt'>>({
    revision,
    startedAt,
    disruptions,
    switchovers,
    outcome,
    memberSeconds,
    updatedOutOfTurn,
    from,
    changes,
  });
}

/** What every rollout that ended has, without what only some have. */
export function completed({
  revision,
  startedAt,
  finishedAt,
  disruptions,
  switchovers,
  outcome,
}: HistoryEntry): CompletedRollout {
  return { revision, startedAt, finishedAt, disruptions, switchovers, outcome };
}
