import { memberLeaving } from './leaving.ts';
import { updatedMemberOwes } from './not-participating.ts';
import { type Outcome, type Situation, take, wait } from './situation.ts';

/** No member is due: the end of a rollout, or of what the user lets it reach; or nothing has begun. */
export function nothingDue(situation: Situation): Outcome | null {
  const { members, snapshot, policy } = situation;
  if (members.some((member) => member.due)) return null;
  const hold = memberLeaving(situation) ?? updatedMemberOwes(situation);
  if (hold) return wait(hold);
  const stale = members.filter((member) => !member.updated).map((member) => member.ordinal);
  if (stale.length > 0) return wait({ rule: 'PartitionReached', partition: policy.partition, members: stale });
  const promotion = promotable(situation)
    ? take({
        kind: 'promoteRevision',
        revision: snapshot.statefulSet?.updateRevision ?? '',
        replicas: situation.replicas,
      })
    : null;
  return promotion ?? idle;
}

/** A decision of its own: nothing to do, and nothing that holds. */
const idle: Outcome = take({ kind: 'none' });

/**
 * Under OnDelete `status.currentRevision` stays behind on Kubernetes before 1.37, and MOCO takes that for a StatefulSet
 * that isn't ready; a volume asked for then is lost.
 */
function promotable({ snapshot, members }: Situation): boolean {
  const { statefulSet } = snapshot;
  return (
    statefulSet !== null &&
    statefulSet.currentRevision !== statefulSet.updateRevision &&
    members.every((member) => member.facts.ready)
  );
}
