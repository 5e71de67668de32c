import type { RolloutStatus } from '../../api/rollout-status.ts';
import { hasOpening } from '../../core/maintenance.ts';
import { milliseconds } from '../../moco/json.ts';
import type { RolloutMetrics } from '../../telemetry/rollout-metrics.ts';
import type { Observation } from '../pass/observe.ts';

/** The values of the metrics with a label for the cluster. */
export interface Series {
  readonly membersByState: Readonly<Record<string, number>>;
  readonly stale: number;
  readonly hold: { readonly rule: string; readonly sinceSeconds: number } | null;
  readonly lastProgressSeconds: number | null;
  /** The reason of condition Stalled while it is True. */
  readonly stalled: string | null;
  /** Some maintenance window of the next 30 days is long enough for every member. */
  readonly hasOpening: boolean;
  /** When a rollout may go on that rests outside of its maintenance windows. */
  readonly opensSeconds: number | null;
  /** The names of the checks that fail and hold. */
  readonly failingChecks: readonly string[];
  /** When each override in force ends, in Unix seconds, by rule. */
  readonly overrides: Readonly<Record<string, number>>;
  readonly partition: Parameters<RolloutMetrics['setPartition']>[1];
  /** Members that this process disrupted and that participate again. */
  readonly returned: readonly { readonly ordinal: number; readonly seconds: number }[];
}

/** A hold is exported from its first moment, even while the status does not show it. */
export function seriesOf(observation: Observation, status: RolloutStatus): Series {
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
    stalled: status.conditions?.find(({ type, status: is }) => type === 'Stalled' && is === 'True')?.reason ?? null,
    hasOpening: hasOpening(snapshot, policy),
    opensSeconds: hold !== null && 'opensAt' in hold ? seconds(hold.opensAt) : null,
    failingChecks: hold?.rule === 'CheckFailing' ? hold.checks.map(({ check }) => check) : [],
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
