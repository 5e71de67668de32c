import { membersDown } from './not-participating.ts';
import { dueMembers, type Outcome, type Situation, take } from './situation.ts';

/**
 * Partition mode, in a cluster that serves nobody: it has never been initialized, or none of its members does any work.
 * The partition would keep a corrected template from them for ever, since their turn comes one after the other. So they
 * are made to come up at the update revision, those that are down alone: one that clones keeps at it. It is what MOCO's
 * documents reach for the first start by leaving the partition unset.
 */
export function nobodyServed(situation: Situation): Outcome | null {
  const { snapshot, members, replicas } = situation;
  const { cluster, statefulSet } = snapshot;
  if (statefulSet === null || !dueMembers(situation).some((member) => member.state === 'down')) return null;
  const atWork = members.some((member) => member.state !== 'down' && member.state !== 'leaving');
  if (cluster.initialized && atWork) return null;
  const { currentRevision, updateRevision } = statefulSet;
  // Below the partition the StatefulSet makes pods from the current revision.
  return currentRevision === updateRevision
    ? membersDown(situation)
    : take({ kind: 'promoteRevision', revision: updateRevision, replicas });
}
