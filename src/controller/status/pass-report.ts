import type { RolloutStatus } from '../../api/rollout-status.ts';
import { hasOpening } from '../../core/maintenance.ts';
import { explainHold, isAlarming, isRoutine } from '../../core/rules/catalogue.ts';
import type { Occurrence } from '../../kube/event-recorder.ts';
import { nameOf } from '../../kube/store.ts';
import { milliseconds } from '../../moco/json.ts';
import { memberName } from '../facts/collect-facts.ts';
import type { Observation } from '../pass/observe.ts';
import { type Completion, completionOf } from './complete-condition.ts';
import { isShown } from './due.ts';
import { holdEvent } from './events.ts';
import { type StatusReport, statusOf, unusableStatusOf } from './status-report.ts';

/** Everything that is reported about a cluster after a reconciliation. */
export interface Report {
  readonly observation: Observation;
  /** `null` if there is no MySQLRollout to write it to, or nothing to write. */
  readonly status: StatusReport | null;
  readonly completion: Completion;
  readonly series: MetricValues;
  readonly event: Occurrence | null;
  readonly log: LogLine;
}

interface LogLine {
  /** `warn`: somebody has to look at it. `debug`: it belongs to every step, or has not lasted yet. */
  readonly level: 'debug' | 'info' | 'warn';
  /** The line is logged if this key differs from that of the last line. */
  readonly key: string;
  readonly fields: {
    readonly cluster: string;
    readonly rule: string;
    readonly stale: number;
    readonly member?: string;
  };
  readonly sentence: string;
}

export function report(observation: Observation): Report {
  const status = statusReport(observation);
  return {
    observation,
    status,
    completion: completionOf(observation),
    series: metricValues(observation, status?.status ?? {}),
    event: holdEvent(observation),
    log: logLine(observation),
  };
}

function statusReport(observation: Observation): StatusReport | null {
  const { rollout, objects, snapshot } = observation;
  if (rollout === null || objects.cluster.deleting) return null;
  return snapshot.rolloutProblem === null ? statusOf(observation, null) : unusableStatusOf(observation);
}

function logLine(observation: Observation): LogLine {
  const { hold, complete, step, stale } = observation.decision;
  const rule = hold?.rule ?? (complete ? 'complete' : step.kind === 'none' ? 'idle' : step.kind);
  const about = hold !== null && 'member' in hold ? hold.member : null;
  const named = memberName(observation);
  const level = levelOf(observation);
  return {
    level,
    key: `${rule} ${about ?? ''} ${level}`,
    fields: {
      cluster: nameOf(observation.objects.cluster),
      rule,
      stale,
      ...(about !== null && { member: named(about) }),
    },
    sentence: hold === null ? rule : explainHold(hold, named),
  };
}

/** Steps have lines of their own. That a cluster is complete when the controller starts is no news. */
function levelOf({ decision: { hold, complete }, memory, heldForSeconds }: Observation): LogLine['level'] {
  if (hold === null) return complete && memory.told.logged !== '' ? 'info' : 'debug';
  if (!isShown(hold, heldForSeconds)) return 'debug';
  if (isAlarming(hold.rule)) return 'warn';
  return isRoutine(hold.rule) ? 'debug' : 'info';
}

export type MetricValues = ReturnType<typeof metricValues>;

/**
 * The values of the metrics with a label for the cluster. A hold is exported from its first moment, even while the
 * status does not show it.
 */
export function metricValues(observation: Observation, status: RolloutStatus) {
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
    hold: hold && { rule: hold.rule, sinceSeconds: unixSeconds(since) ?? unixSeconds(now) ?? 0 },
    lastProgressSeconds: unixSeconds(status.rollout?.lastProgressAt),
    /** The reason of condition Stalled while it is True. */
    stalled: status.conditions?.find(({ type, status: is }) => type === 'Stalled' && is === 'True')?.reason ?? null,
    /** Some maintenance window of the next 30 days is long enough for every member. */
    hasOpening: hasOpening(snapshot, policy),
    /** When a rollout may go on that rests outside of its maintenance windows. */
    opensSeconds: hold !== null && 'opensAt' in hold ? unixSeconds(hold.opensAt) : null,
    /** The names of the checks that fail and hold. */
    failingChecks: hold?.rule === 'CheckFailing' ? hold.checks.map(({ check }) => check) : [],
    /** When each override in force ends, in Unix seconds, by rule. */
    overrides: Object.fromEntries(
      (settings.sources['overrides']?.value ?? []).map(({ rule, until }) => [rule, unixSeconds(until) ?? 0]),
    ),
    partition: isOwn
      ? {
          current: snapshot.members.filter(({ revision }) => revision === currentRevision).length,
          updated: members.filter(({ updated }) => updated).length,
          lastUpdatedSeconds: status.lastStep?.step === 'setPartition' ? unixSeconds(status.lastStep.at) : null,
        }
      : null,
    /** What replicas lack, while an answer is recent. */
    replication: (status.members ?? []).flatMap(({ ordinal, replication }) =>
      replication === undefined ? [] : [{ pod: memberName(observation)(ordinal), ...replication }],
    ),
    /** Members that this process disrupted and that participate again. */
    returned: members.flatMap(({ ordinal, verdict }) => {
      const takenAt = memory.steps.disruptedAtMilliseconds.get(ordinal);
      if (takenAt === undefined || verdict !== 'Updated') return [];
      return [{ ordinal, seconds: (nowMilliseconds - takenAt) / 1000 }];
    }),
  };
}

/** Unix time in seconds. */
function unixSeconds(timestamp: string | null | undefined): number | null {
  const value = milliseconds(timestamp ?? null);
  return value === null ? null : value / 1000;
}
