import { membersDown } from './not-participating.ts';
import { dueMembers, type Outcome, type Situation, take } from './situation.ts';

/**
 * Partition mode, until the cluster has been initialized once: nobody is served by it yet, and the partition would keep
 * a corrected template from members that have never started. They are made to come up at the update revision; what MOCO
 * reaches by leaving the partition unset until then, which takes a member that clones as well.
 */
export function firstStart(situation: Situation): Outcome | null {
  const { snapshot, replicas } = situation;
  const { cluster, statefulSet } = snapshot;
  if (cluster.initialized || statefulSet === null) return null;
  if (!dueMembers(situation).some((member) => member.state === 'down')) return null;
  const { currentRevision, updateRevision } = statefulSet;
  // Below the partition the StatefulSet makes pods from the current revision.
  return currentRevision === updateRevision
    ? membersDown(situation)
    : take({ kind: 'promoteRevision', revision: updateRevision, replicas });
}
