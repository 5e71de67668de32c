import { type Outcome, type Situation, take, wait } from './situation.ts';

/** After how long a refused dry run of a release is tried again. */
const refusalSeconds = 10;

/**
 * Releases a StatefulSet that has our label although this program may no longer delete its pods. `currentRevision`
 * comes first, so that a pod that crashes afterwards comes up as it would have under OnDelete and never at an older
 * revision. Stale members stay stale until somebody lowers the partition. While the cluster is paused no release
 * begins. A current revision that a finished release has set is still corrected.
 */
export function release(situation: Situation): Outcome | null {
  const { snapshot, policy, members } = situation;
  const { statefulSet, promotion } = snapshot;
  if (statefulSet === null) return null;
  const { currentRevision, updateRevision, labelled, observed, deleting } = statefulSet;
  const promote = (revision: string): Outcome => {
    const replicas = members.filter((member) => member.facts.revision === revision).length;
    return take({ kind: 'promoteRevision', revision, replicas });
  };
  if (!labelled) {
    // A sync that was under way when currentRevision was written writes the previous one once more.
    const overwritten = promotion !== null && promotion.from === currentRevision && promotion.to !== currentRevision;
    return observed && overwritten ? promote(promotion.to) : null;
  }
  if (policy.mode === 'OnDelete' && !snapshot.released) return null;
  // The next owner of the StatefulSet would replace its pods, so a release waits for the end of the pause.
  if (policy.paused) {
    const { settingsProblem: problem } = snapshot;
    return wait(problem === null ? { rule: 'Paused' } : { rule: 'SettingsInvalid', problem });
  }
  if (deleting) return wait({ rule: 'StatefulSetDeleting' });
  if (!observed || updateRevision === '') return wait({ rule: 'StatefulSetNotObserved' });
  if (currentRevision !== updateRevision) return promote(updateRevision);
  const { releaseRefusal: refusal } = snapshot;
  const stands = refusal !== null && !situation.deadlines.reached(refusal.sinceSeconds, refusalSeconds);
  return stands ? wait({ rule: 'ReleaseUnsafe', message: refusal.message }) : take({ kind: 'release' });
}
