import { type ClusterState, factsOf, primaryIndex, type Snapshot } from './cluster-state.ts';
import { type Activity, type ClusteringStep, goOn, passAfter, type Turn } from './clustering-mind.ts';
import { clusteringStatus } from './clustering-status.ts';
import { configured, labelWrites, membersWithoutRole, unlabelWrites } from './configure.ts';
import { answers, withDatabase } from './databases.ts';
import {
  candidates,
  electable,
  has,
  lowest,
  operationOf,
  stepAfterLabelling,
  switchoverSucceeds,
} from './decisions.ts';
import { moveIndex } from './switchover.ts';

/** What MOCO begins to do about a state; `null` for nothing. */
export function beginActivity(snapshot: Snapshot, state: ClusterState, turn: Turn): ClusteringStep | null {
  const { mind, now, durations } = turn;
  const { cluster, databases, faults } = snapshot;
  switch (state) {
    case 'Cloning':
      return faults.cloneHangs || !answers(databases, primaryIndex(cluster), faults)
        ? null
        : goOn(now, mind.databases, { kind: 'cloning', until: after(turn, durations.clone) });
    case 'Offline':
    case 'Restoring':
      return null;
    default:
  }
  switch (operationOf(factsOf(snapshot), state, faults.switchover !== 'ignored')) {
    case 'switchover':
      return beginSwitchover(snapshot, turn);
    case 'failover':
      return goOn(now, mind.databases, { kind: 'failover', until: after(turn, durations.failover) });
    case 'configure':
      return beginConfiguring(snapshot, turn);
    case 'nothing':
      return null;
  }
}

function after({ now }: Turn, milliseconds: number): number {
  return now.monotonicMilliseconds + milliseconds;
}

function beginConfiguring(snapshot: Snapshot, turn: Turn): ClusteringStep {
  const { mind, now, durations } = turn;
  const { answering } = factsOf(snapshot);
  const unlabelled = membersWithoutRole(snapshot).filter((ordinal) => has(answering, ordinal));
  const repointing: Activity = { kind: 'repointing', unlabelled, until: after(turn, durations.repoint) };
  return goOn(now, mind.databases, repointing, unlabelWrites(snapshot));
}

function beginSwitchover(snapshot: Snapshot, turn: Turn): ClusteringStep | null {
  const { mind, now, durations } = turn;
  const { faults, cluster } = snapshot;
  const to = faults.nextPrimary ?? lowest(candidates(factsOf(snapshot)));
  if (to === null) return null;
  const failing = faults.switchover === 'failing';
  const databases = withDatabase(mind.databases, primaryIndex(cluster), { writable: false, draining: true });
  const until = after(turn, failing ? durations.failedTry / 2 : durations.drain);
  return goOn(now, databases, { kind: 'switchover', to, failing, until });
}

/** The next step after the time of an activity is over. */
export function finishActivity(
  snapshot: Snapshot,
  activity: Exclude<Activity, { readonly kind: 'watching' | 'asking' }>,
  turn: Turn,
): ClusteringStep {
  const { mind, now, durations } = turn;
  const { cluster, faults } = snapshot;
  const primary = primaryIndex(cluster);
  switch (activity.kind) {
    case 'switchover': {
      if (activity.failing && mind.databases[primary]?.draining === true) {
        const databases = withDatabase(mind.databases, primary, { draining: false });
        return goOn(now, databases, { ...activity, until: after(turn, durations.failedTry / 2) });
      }
      return activity.failing || !switchoverSucceeds(factsOf(snapshot), activity.to)
        ? passAfter(turn, durations.retry)
        : passAfter(turn, durations.healthyFalse, moveIndex(snapshot, activity.to));
    }
    case 'failover': {
      const elected = faults.nextPrimary ?? lowest(electable(factsOf(snapshot)));
      return elected === null
        ? passAfter(turn, durations.retry)
        : passAfter(turn, durations.healthyFalse, moveIndex(snapshot, elected));
    }
    case 'cloning': {
      const cloned = clusteringStatus(snapshot, 'Incomplete', now.wallMilliseconds);
      return passAfter(turn, durations.notice, cloned === null ? [] : [cloned]);
    }
    case 'repointing': {
      const { unlabelled } = activity;
      return goOn(now, configured(snapshot), { kind: 'labelling', unlabelled, until: after(turn, durations.label) });
    }
    case 'labelling': {
      const writes = labelWrites(snapshot, activity.unlabelled);
      return stepAfterLabelling(factsOf(snapshot)) === 'watching'
        ? passAfter(turn, durations.healthyTrue, writes)
        : goOn(now, mind.databases, { kind: 'opening', until: after(turn, durations.open) }, writes);
    }
    case 'opening': {
      const writable = answers(mind.databases, primary, faults);
      const opened = { writable, source: null, replicating: false, draining: false };
      return passAfter(turn, durations.healthyTrue, [], withDatabase(mind.databases, primary, opened));
    }
  }
}
