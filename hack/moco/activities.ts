import { type ClusterState, candidates, electable, type Gathered, needsSwitch, primaryIndex } from './cluster-state.ts';
import { type Activity, type ClusteringStep, goOn, passAfter, type Turn } from './clustering-mind.ts';
import { clusteringStatus } from './clustering-status.ts';
import { configured, isConfigured, labelWrites, membersWithoutRole, unlabelWrites, writesOpen } from './configure.ts';
import { answers, withDatabase } from './databases.ts';
import { isProtected } from './prevent-delete.ts';
import { moveIndex } from './switchover.ts';

/** What MOCO begins to do about a state; `null` for nothing. */
export function beginActivity(gathered: Gathered, state: ClusterState, turn: Turn): ClusteringStep | null {
  const { mind, now, durations } = turn;
  const { cluster, databases, faults } = gathered;
  switch (state) {
    case 'Healthy':
      return beginSwitchover(gathered, turn);
    case 'Degraded':
      return beginSwitchover(gathered, turn) ?? beginConfiguring(gathered, turn);
    case 'Incomplete':
      return beginConfiguring(gathered, turn);
    case 'Failed':
      return goOn(now, mind.databases, { kind: 'failover', until: after(turn, durations.failover) });
    case 'Cloning':
      return faults.cloneHangs || !answers(databases, primaryIndex(cluster), faults)
        ? null
        : goOn(now, mind.databases, { kind: 'cloning', until: after(turn, durations.clone) });
    case 'Offline':
    case 'Restoring':
    case 'Lost':
      return null;
  }
}

function after({ now }: Turn, milliseconds: number): number {
  return now.monotonicMilliseconds + milliseconds;
}

function beginConfiguring(gathered: Gathered, turn: Turn): ClusteringStep | null {
  const { mind, now, durations } = turn;
  if (isConfigured(gathered)) {
    return null;
  }
  const unlabelled = membersWithoutRole(gathered);
  const repointing: Activity = { kind: 'repointing', unlabelled, until: after(turn, durations.repoint) };
  return goOn(now, mind.databases, repointing, unlabelWrites(gathered));
}

function beginSwitchover(gathered: Gathered, turn: Turn): ClusteringStep | null {
  const { mind, now, durations } = turn;
  const { faults, cluster } = gathered;
  const chosen = candidates(gathered)[0];
  const unwilling = faults.switchover === 'ignored' || isProtected(gathered);
  if (chosen === undefined || !needsSwitch(gathered) || unwilling) {
    return null;
  }
  const failing = faults.switchover === 'failing';
  const databases = withDatabase(mind.databases, primaryIndex(cluster), { writable: false, draining: true });
  const until = after(turn, failing ? durations.failedTry : durations.drain);
  return goOn(now, databases, { kind: 'switchover', to: faults.nextPrimary ?? chosen, failing, until });
}

/** What comes when the time of an activity is up. */
export function finishActivity(
  gathered: Gathered,
  activity: Exclude<Activity, { readonly kind: 'watching' | 'asking' }>,
  turn: Turn,
): ClusteringStep {
  const { mind, now, durations } = turn;
  const { cluster, faults } = gathered;
  const primary = primaryIndex(cluster);
  switch (activity.kind) {
    case 'switchover': {
      const lost = [primary, activity.to].some((ordinal) => !answers(mind.databases, ordinal, faults));
      return activity.failing || lost
        ? passAfter(turn, durations.retry)
        : passAfter(turn, durations.healthyFalse, moveIndex(gathered, activity.to));
    }
    case 'failover': {
      const elected = faults.nextPrimary ?? electable(gathered)[0];
      return elected === undefined
        ? passAfter(turn, durations.retry)
        : passAfter(turn, durations.healthyFalse, moveIndex(gathered, elected));
    }
    case 'cloning': {
      const cloned = clusteringStatus(gathered, 'Incomplete', now.wallMilliseconds);
      return passAfter(turn, durations.notice, cloned === null ? [] : [cloned]);
    }
    case 'repointing': {
      const { unlabelled } = activity;
      return goOn(now, configured(gathered), { kind: 'labelling', unlabelled, until: after(turn, durations.label) });
    }
    case 'labelling': {
      const writes = labelWrites(gathered, activity.unlabelled);
      return writesOpen(gathered)
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
