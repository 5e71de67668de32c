import { updatedMemberUnsettled } from './gates.ts';
import { type Member, type Outcome, type Situation, take, wait } from './situation.ts';
import { memberTerminating } from './terminating.ts';

/** No member is due: the rollout has ended, or has reached what the user allows, or has not begun. */
export function nothingDue(situation: Situation): Outcome | null {
  const { members, snapshot, policy } = situation;
  if (members.some((member) => member.due)) return null;
  const hold = memberTerminating(situation) ?? updatedMemberUnsettled(situation);
  if (hold) return wait(hold);
  const stale = members.filter((member) => !member.updated);
  if (stale.length > 0) {
    const [members, pinned] = [stale.filter(({ pinned }) => !pinned), stale.filter(({ pinned }) => pinned)].map(
      ordinals,
    );
    return wait({
      rule: 'PartitionReached',
      partition: policy.partition,
      members: members ?? [],
      pinned: pinned ?? [],
    });
  }
  const promotion = promotable(situation)
    ? take({
        kind: 'promoteRevision',
        revision: snapshot.statefulSet?.updateRevision ?? '',
        replicas: situation.replicas,
      })
    : null;
  return promotion ?? idle;
}

const ordinals = (members: readonly Member[]): readonly number[] => members.map(({ ordinal }) => ordinal);

/** Nothing to do, and nothing blocks. */
const idle: Outcome = take({ kind: 'none' });

/**
 * Under OnDelete `status.currentRevision` stays behind on Kubernetes before 1.37, and MOCO takes that for a StatefulSet
 * that isn't ready; a volume asked for then is lost.
 */
function promotable({ snapshot, members, policy }: Situation): boolean {
  const { statefulSet } = snapshot;
  return (
    policy.mode === 'OnDelete' &&
    statefulSet !== null &&
    statefulSet.currentRevision !== statefulSet.updateRevision &&
    members.every((member) => member.facts.ready)
  );
}
