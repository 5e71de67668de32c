import { type Outcome, type Situation, take, wait } from './situation.ts';

/** What the API server would have made of a hand-back is asked again after this long. */
const refusalSeconds = 10;

/**
 * A StatefulSet that carries our label although this program is not to delete its pods any more goes back to rolling
 * updates. `currentRevision` comes first, so that a pod that crashes afterwards comes up as it would have under OnDelete
 * and never at an older revision. What is stale stays so, until whoever lowers the partition takes it.
 */
export function handBack(situation: Situation): Outcome | null {
  const { snapshot, policy, members } = situation;
  const { statefulSet, promotion } = snapshot;
  if (statefulSet === null) return null;
  const { currentRevision, updateRevision, labelled, observed, deleting } = statefulSet;
  const promote = (revision: string): Outcome => {
    const replicas = members.filter((member) => member.facts.revision === revision).length;
    return take({ kind: 'promoteRevision', revision, replicas });
  };
  if (!labelled) {
    // A sync that was under way while currentRevision was written ends by writing the one before once more.
    const overwritten = promotion !== null && promotion.from === currentRevision && promotion.to !== currentRevision;
    return observed && overwritten ? promote(promotion.to) : null;
  }
  if (policy.mode === 'OnDelete' && !snapshot.handedBack) return null;
  if (deleting) return wait({ rule: 'StatefulSetDeleting' });
  if (!observed || updateRevision === '') return wait({ rule: 'StatefulSetNotObserved' });
  if (currentRevision !== updateRevision) return promote(updateRevision);
  const { handBackRefusal: refusal } = snapshot;
  const stands = refusal !== null && !situation.deadlines.reached(refusal.sinceSeconds, refusalSeconds);
  return stands ? wait({ rule: 'HandBackUnsafe', message: refusal.message }) : take({ kind: 'handBack' });
}
