import { explainHold, isAlarming, isRoutine } from '../../core/rules/catalogue.ts';
import type { Occurrence } from '../../kube/event-recorder.ts';
import { keyOf } from '../../kube/store.ts';
import { memberName } from '../facts/collect-facts.ts';
import type { Observation } from '../pass/observe.ts';
import { type Completion, completionOf } from './complete-condition.ts';
import { isShown } from './due.ts';
import { holdEvent } from './events.ts';
import { type Series, seriesOf } from './series.ts';
import { type StatusReport, statusOf, unusableStatusOf } from './status-report.ts';

/** Everything that is reported about a cluster after a reconciliation. */
export interface Report {
  readonly observation: Observation;
  /** `null` if there is no MySQLRollout to write it to, or nothing to write. */
  readonly status: StatusReport | null;
  readonly completion: Completion;
  readonly series: Series;
  /** The Event of the hold, if it is due. */
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
    series: seriesOf(observation, status?.status ?? {}),
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
  const { namespace, name } = observation.objects.cluster;
  const rule = hold?.rule ?? (complete ? 'complete' : step.kind === 'none' ? 'idle' : step.kind);
  const about = hold !== null && 'member' in hold ? hold.member : null;
  const nameOf = memberName(observation);
  const level = levelOf(observation);
  return {
    level,
    key: `${rule} ${about ?? ''} ${level}`,
    fields: { cluster: keyOf(namespace, name), rule, stale, ...(about !== null && { member: nameOf(about) }) },
    sentence: hold === null ? rule : explainHold(hold, nameOf),
  };
}

/** Steps have lines of their own. That a cluster is complete when the controller starts is no news. */
function levelOf({ decision: { hold, complete }, memory, heldForSeconds }: Observation): LogLine['level'] {
  if (hold === null) return complete && memory.told.logged !== '' ? 'info' : 'debug';
  if (!isShown(hold, heldForSeconds)) return 'debug';
  if (isAlarming(hold.rule)) return 'warn';
  return isRoutine(hold.rule) ? 'debug' : 'info';
}
