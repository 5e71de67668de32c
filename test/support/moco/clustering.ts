import { type Moment } from '../moment.ts';
import { beginActivity, finishActivity } from './activities.ts';
import { clusterState, type Snapshot } from './cluster-state.ts';
import type { ClusterView } from './cluster-view.ts';
import {
  type ClusteringMind,
  type ClusteringStep,
  goOn,
  idle,
  passAfter,
  still,
  type Turn,
} from './clustering-mind.ts';
import { clusteringStatus } from './clustering-status.ts';
import { answers, observeDatabases } from './databases.ts';
import type { Faults } from './faults.ts';
import { byOrdinal, isComplete } from './pods.ts';
import { protectionWrites } from './prevent-delete.ts';
import { isClusteringStopped } from './reconcile.ts';
import type { ClusteringDurations } from './settings.ts';

/** One step of MOCO's clustering loop of a cluster. Asked again with nothing changed, it changes nothing. */
export function clusteringStep(
  { cluster, pods }: ClusterView,
  { databases: before, activity }: ClusteringMind,
  now: Moment,
  durations: ClusteringDurations,
  faults: Faults,
): ClusteringStep {
  const offline = cluster.spec.offline === true;
  const databases = observeDatabases(before, pods, cluster.spec.replicas, faults);
  const turn: Turn = { mind: { databases, activity }, now, durations };
  if (isClusteringStopped(cluster) || cluster.metadata.deletionTimestamp !== undefined) {
    return idle(turn);
  }
  const snapshot: Snapshot = { cluster, members: offline ? [] : byOrdinal(pods), databases, faults };
  const answered = activity.kind === 'asking' && everyoneAnswers(snapshot);
  if (activity.kind !== 'watching' && now.monotonicMilliseconds < activity.until && !answered) {
    return still(turn);
  }
  if (activity.kind !== 'watching' && activity.kind !== 'asking') {
    return finishActivity(snapshot, activity, turn);
  }
  // While a pod is missing the real one aborts its passes without a status.
  const blind = !offline && !isComplete(pods, cluster.spec.replicas);
  const step = blind ? null : pass(snapshot, turn);
  if (step === null) {
    return idle(turn);
  }
  return activity.kind === 'asking' ? step : passWhenDue(snapshot, activity.passAt, step, turn);
}

/**
 * Status first, then `prevent-delete`, then the one operation that the state requires. `null`: nothing to do, which
 * does not count as a pass.
 */
function pass(snapshot: Snapshot, turn: Turn): ClusteringStep | null {
  const state = clusterState(snapshot);
  const status = clusteringStatus(snapshot, state, turn.now.wallMilliseconds);
  const writes = [...(status === null ? [] : [status]), ...protectionWrites(snapshot)];
  const begun = beginActivity(snapshot, state, turn);
  if (begun !== null) {
    return { ...begun, writes: [...writes, ...begun.writes] };
  }
  return writes.length === 0 ? null : passAfter(turn, turn.durations.notice, writes);
}

/** A pass runs once MOCO has had the time to notice a change, and every member has answered. */
function passWhenDue(snapshot: Snapshot, due: number | null, step: ClusteringStep, turn: Turn): ClusteringStep {
  const { mind, now, durations } = turn;
  if (due === null) {
    return passAfter(turn, durations.notice + snapshot.faults.statusLagMilliseconds);
  }
  if (now.monotonicMilliseconds < due) {
    return still(turn);
  }
  const until = now.monotonicMilliseconds + durations.silence;
  return everyoneAnswers(snapshot) ? step : goOn(now, mind.databases, { kind: 'asking', until });
}

function everyoneAnswers({ members, databases, faults }: Snapshot): boolean {
  return members.every((_, ordinal) => answers(databases, ordinal, faults));
}
