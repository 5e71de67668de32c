import type { RolloutStatus } from '../../api/rollout-status.ts';
import { milliseconds } from '../../base/json.ts';
import type { Hold } from '../../core/decision.ts';
import { hasOpening } from '../../core/maintenance.ts';
import { explainHold, isAlarming, isRoutine } from '../../core/rules/catalogue.ts';
import type { Occurrence } from '../../kube/event.ts';
import { nameOf } from '../../kube/store.ts';
import { labelValue } from '../../telemetry/declared.ts';
import type { ClusterValues } from '../../telemetry/rollout-metrics.ts';
import { memberName } from '../facts/member-name.ts';
import type { Observation } from '../pass/observe.ts';
import { type Completion, completionOf } from './complete-condition.ts';
import { shownHold } from './due.ts';
import { holdEvent } from './events.ts';
import { type StatusReport, statusOf, unusableStatusOf } from './status-report.ts';

// Everything that a pass reports, as one value.

/** Everything that is reported about a cluster after a reconciliation. */
export interface PassReport {
  readonly observation: Observation;
  /** `null` if there is no MySQLRollout, or nothing to write to it. */
  readonly status: StatusReport | null;
  readonly completion: Completion;
  readonly values: ClusterValues;
  readonly returned: readonly { readonly ordinal: number; readonly seconds: number }[];
  readonly event: Occurrence | null;
  readonly log: LogLine;
}

interface LogLine {
  /**
   * `warn` means that a person has to look at the cluster. `debug` means that the line is part of every step, or that
   * the hold has been brief so far.
   */
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

export function report(observation: Observation): PassReport {
  const status = statusReport(observation);
  return {
    observation,
    status,
    completion: completionOf(observation),
    values: clusterValues(observation, status?.status ?? {}),
    returned: returnedOf(observation),
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
  const { complete, step, stale } = observation.decision;
  const hold = shownHold(observation) ?? observation.decision.hold;
  const rule = hold?.rule ?? (complete ? 'complete' : step.kind === 'none' ? 'idle' : step.kind);
  const about = hold !== null && 'member' in hold ? hold.member : null;
  const named = memberName(observation);
  const level = levelOf(observation, hold);
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

/** Steps have their own log lines. If a cluster is already complete when the controller starts, that is not logged. */
function levelOf(observation: Observation, hold: Hold | null): LogLine['level'] {
  const { decision, memory } = observation;
  if (hold === null) return decision.complete && memory.published.logged !== '' ? 'info' : 'debug';
  if (shownHold(observation) === null) return 'debug';
  if (isAlarming(hold.rule)) return 'warn';
  return isRoutine(hold.rule) ? 'debug' : 'info';
}

/** The metrics show a hold from its first moment, even if the status does not show it yet. */
function clusterValues(observation: Observation, status: RolloutStatus): ClusterValues {
  const { decision, snapshot, policy, settings, memory, now } = observation;
  const { members, stale, hold } = decision;
  const since = status.hold?.rule === hold?.rule ? status.hold?.since : memory.seen.holding?.since;
  const covered = status.hold?.rule === hold?.rule ? null : status.hold;
  const stalled = status.conditions?.find(({ type }) => type === 'Stalled');
  const named = memberName(observation);
  const replicas = (status.members ?? []).flatMap(({ ordinal, replication }) =>
    replication === undefined ? [] : [{ pod: named(ordinal), ...replication }],
  );
  return {
    members: countsOf(members.map(({ state }) => labelValue(state))),
    staleMembers: stale,
    hold: hold && {
      [hold.rule]: unixSeconds(since) ?? unixSeconds(now) ?? 0,
      ...(covered && { [covered.rule]: unixSeconds(covered.since) ?? 0 }),
    },
    noMaintenanceWindow: hasOpening(snapshot, policy) ? null : 1,
    maintenanceOpens: hold !== null && 'opensAt' in hold ? unixSeconds(hold.opensAt) : null,
    failingChecks: hold?.rule === 'CheckFailing' ? countsOf(hold.checks.map(({ check }) => check)) : null,
    notReceived: Object.fromEntries(
      replicas.flatMap(({ pod, notReceived }) => (notReceived === undefined ? [] : [[pod, notReceived]])),
    ),
    notApplied: Object.fromEntries(replicas.map(({ pod, notApplied }) => [pod, notApplied])),
    overrides: Object.fromEntries(
      (settings.sources['overrides']?.value ?? []).map(({ rule, until }) => [rule, unixSeconds(until) ?? 0]),
    ),
    ...partitionValues(observation, status),
    stalled: stalled?.status === 'True' ? { [stalled.reason]: 1 } : null,
    lastProgress: unixSeconds(status.rollout?.lastProgressAt),
  };
}

/**
 * `lastPartitionUpdated` is `undefined`, and its metric keeps its value, if the last step in the status is of another
 * kind.
 */
function partitionValues(
  { policy, snapshot, decision }: Observation,
  { lastStep }: RolloutStatus,
): Pick<ClusterValues, 'currentReplicas' | 'updatedReplicas' | 'lastPartitionUpdated'> {
  if (policy.mode !== 'Partition') return { currentReplicas: null, updatedReplicas: null, lastPartitionUpdated: null };
  const { currentRevision } = snapshot.statefulSet ?? {};
  return {
    currentReplicas: snapshot.members.filter(({ revision }) => revision === currentRevision).length,
    updatedReplicas: decision.members.filter(({ updated }) => updated).length,
    lastPartitionUpdated: lastStep?.step === 'setPartition' ? (unixSeconds(lastStep.at) ?? undefined) : undefined,
  };
}

function countsOf(words: readonly string[]): Readonly<Record<string, number>> {
  return Object.fromEntries([...Map.groupBy(words, (word) => word)].map(([word, all]) => [word, all.length]));
}

/** Members that this process disrupted and that participate again, and how long each was unavailable. */
const returnedOf = ({ decision, memory, nowMilliseconds }: Observation): PassReport['returned'] =>
  decision.members.flatMap(({ ordinal, verdict }) => {
    const takenAt = memory.steps.disruptedAtMilliseconds.get(ordinal);
    if (takenAt === undefined || verdict !== 'Updated') return [];
    return [{ ordinal, seconds: (nowMilliseconds - takenAt) / 1000 }];
  });

/** Unix time in seconds. */
function unixSeconds(timestamp: string | null | undefined): number | null {
  const value = milliseconds(timestamp ?? null);
  return value === null ? null : value / 1000;
}
