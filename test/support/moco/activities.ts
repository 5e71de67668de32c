import { demoteAnnotation } from '../../../src/moco/names.ts';
import { type ClusterState, factsOf, primaryIndex, type Snapshot } from './cluster-state.ts';
import { replaceStatus } from './cluster-status.ts';
import { type Activity, type ClusteringStep, goOn, passAfter, type Turn } from './clustering-mind.ts';
import { clusteringStatus } from './clustering-status.ts';
import { configured, labelWrites, membersWithoutRole, unlabelWrites } from './configure.ts';
import { answers, type Database, withDatabase, withoutBacklog } from './databases.ts';
import {
  candidates,
  elected,
  has,
  lowest,
  memberBit,
  operationOf,
  stepAfterLabelling,
  switchoverSucceeds,
} from './decisions.ts';
import type { Write } from './write.ts';

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
  // Before it leads it has to apply what it has received, for which MOCO waits up to 50 s.
  const failing = faults.switchover === 'failing' || mind.databases[to]?.backlog !== undefined;
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
      const to = mostAdvanced(snapshot);
      if (to === null) return passAfter(turn, durations.retry);
      return mind.databases[to]?.backlog === undefined
        ? passAfter(turn, durations.healthyFalse, moveIndex(snapshot, to))
        : passAfter(turn, durations.retry, [], withoutReceivers(snapshot));
    }
    case 'cloning': {
      const cloned = clusteringStatus(snapshot, 'Incomplete', now.wallMilliseconds);
      return passAfter(turn, durations.notice, cloned === null ? [] : [cloned]);
    }
    case 'repointing': {
      const { unlabelled } = activity;
      const { databases, isDone } = configured(snapshot);
      return isDone
        ? goOn(now, databases, { kind: 'labelling', unlabelled, until: after(turn, durations.label) })
        : passAfter(turn, durations.retry, [], databases);
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
      const databases = mind.databases.map((one, ordinal) => (ordinal === primary ? withoutBacklog(one) : one));
      return passAfter(turn, durations.healthyTrue, [], withDatabase(databases, primary, opened));
    }
  }
}

/**
 * How a switchover and a failover end for MOCO: the index moves, with `Healthy` as it was, and the old primary loses
 * `demote`. Replicas, labels and writes are the business of the next pass.
 */
function moveIndex({ cluster, members }: Snapshot, to: number): Write[] {
  const moved = replaceStatus(cluster, { ...cluster.status, currentPrimaryIndex: to });
  const old = members[primaryIndex(cluster)];
  const asked = old?.metadata.annotations?.[demoteAnnotation] !== undefined;
  return [...(moved === null ? [] : [moved]), ...(old === undefined || !asked ? [] : [withoutDemote(old.metadata)])];
}

function withoutDemote({ name, namespace, uid }: { name: string; namespace: string; uid: string }): Write {
  const body = { metadata: { annotations: { [demoteAnnotation]: null } } };
  return { verb: 'patch', kind: 'Pod', namespace, name, uid, body };
}

/** The replica that a failover elects: the first of those that have received most. */
function mostAdvanced(snapshot: Snapshot): number | null {
  const { nextPrimary, unreceived } = snapshot.faults;
  const behind = unreceived.reduce((members, ordinal) => members | memberBit(ordinal), 0);
  return nextPrimary ?? elected(factsOf(snapshot), ~behind);
}

/** A failover stops every I/O thread first. If its candidate has not applied everything in time, it fails there. */
function withoutReceivers(snapshot: Snapshot): readonly Database[] {
  const { databases, faults } = snapshot;
  const primary = primaryIndex(snapshot.cluster);
  return databases.map((database, ordinal) =>
    ordinal === primary || !answers(databases, ordinal, faults) ? database : { ...database, replicating: false },
  );
}
