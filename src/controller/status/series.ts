import type { RolloutStatus } from '../../api/rollout-status.ts';
import { hasOpening } from '../../core/maintenance.ts';
import { milliseconds } from '../../moco/json.ts';
import type { Observation } from '../pass/observe.ts';

export type Series = ReturnType<typeof seriesOf>;

/**
 * The values of the metrics with a label for the cluster. A hold is exported from its first moment, even while the
 * status does not show it.
 */
export function seriesOf(observation: Observation, status: RolloutStatus) {
  const { decision, snapshot, policy, settings, memory, now, nowMilliseconds } = observation;
  const { members, stale, hold } = decision;
  const membersByState: Record<string, number> = {};
  for (const { state } of members) membersByState[state] = (membersByState[state] ?? 0) + 1;
  const since = status.hold?.rule === hold?.rule ? status.hold?.since : memory.seen.holding?.since;
  const { currentRevision } = snapshot.statefulSet ?? {};
  const isOwn = policy.mode === 'Partition';
  return {
    membersByState,
    stale,
    hold: hold && { rule: hold.rule, sinceSeconds: seconds(since) ?? seconds(now) ?? 0 },
    lastProgressSeconds: seconds(status.rollout?.lastProgressAt),
    /** The reason of condition Stalled while it is True. */
    stalled: status.conditions?.find(({ type, status: is }) => type === 'Stalled' && is === 'True')?.reason ?? null,
    /** Some maintenance window of the next 30 days is long enough for every member. */
    hasOpening: hasOpening(snapshot, policy),
    /** When a rollout may go on that rests outside of its maintenance windows. */
    opensSeconds: hold !== null && 'opensAt' in hold ? seconds(hold.opensAt) : null,
    /** The names of the checks that fail and hold. */
    failingChecks: hold?.rule === 'CheckFailing' ? hold.checks.map(({ check }) => check) : [],
    /** When each override in force ends, in Unix seconds, by rule. */
    overrides: Object.fromEntries(
      (settings.sources['overrides']?.value ?? []).map(({ rule, until }) => [rule, seconds(until) ?? 0]),
    ),
    partition: isOwn
      ? {
          current: snapshot.members.filter(({ revision }) => revision === currentRevision).length,
          updated: members.filter(({ updated }) => updated).length,
          lastUpdatedSeconds: status.lastStep?.step === 'setPartition' ? seconds(status.lastStep.at) : null,
        }
      : null,
    /** Members that this process disrupted and that participate again. */
    returned: members.flatMap(({ ordinal, verdict }) => {
      const takenAt = memory.steps.disruptedAtMilliseconds.get(ordinal);
      if (takenAt === undefined || verdict !== 'Updated') return [];
      return [{ ordinal, seconds: (nowMilliseconds - takenAt) / 1000 }];
    }),
  };
}

/** Unix time in seconds. */
function seconds(timestamp: string | null | undefined): number | null {
  const value = milliseconds(timestamp ?? null);
  return value === null ? null : value / 1000;
}
