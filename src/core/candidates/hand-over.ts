import { isAdopted, keepsRevisions, mayAdopt } from '../adoption.ts';
import type { ProcedureLine } from '../decision.ts';
import { suitsEveryMember } from '../lost-members.ts';
import type { Situation } from '../situation.ts';
import type { Step } from '../step.ts';

// Which program replaces the pods of the StatefulSet.

/**
 * Releases a StatefulSet that has our label although this program may no longer delete its pods. `currentRevision` is
 * written first, so that a pod that crashes afterwards starts at the same revision as under OnDelete, never at an older
 * one. Stale members stay stale until the partition is lowered.
 */
function releases(situation: Situation): readonly Step[] {
  const { snapshot, policy, members } = situation;
  const { statefulSet, promotion } = snapshot;
  if (statefulSet === null) return [];
  const { currentRevision, updateRevision, labelled, observed } = statefulSet;
  const promote = (revision: string, reason: 'release' | 'correction'): readonly Step[] => {
    const replicas = members.filter((member) => member.facts.revision === revision).length;
    return [{ kind: 'promoteRevision', revision, replicas, for: reason, before: [] }];
  };
  if (!labelled) {
    // The StatefulSet controller was syncing when currentRevision was written, and has restored the previous value.
    const overwritten = promotion !== null && promotion.from === currentRevision && promotion.to !== currentRevision;
    return observed && overwritten ? promote(promotion.to, 'correction') : [];
  }
  if (policy.mode === 'OnDelete' && !snapshot.released) return [];
  // New pods may start at the current revision only until a lost member is back. Then other members may have newer
  // data, which an older mysqld refuses. So the current revision stays only if no member has newer data. A member that
  // crashes then still comes back at its previous revision.
  const isKept = keepsRevisions(statefulSet) && suitsEveryMember(situation, currentRevision);
  return currentRevision === updateRevision || isKept ? [{ kind: 'release' }] : promote(updateRevision, 'release');
}

export const release: ProcedureLine = {
  takes:
    'our label, once this program may no longer delete pods: promoteRevision, then release; a current revision that an earlier sync has overwritten: promoteRevision',
  candidates: releases,
};

export const adopt: ProcedureLine = {
  takes:
    'a StatefulSet that is not at OnDelete or has no label, and whose last adoption is long enough ago: setStrategy',
  candidates: (situation) =>
    !isAdopted(situation.snapshot.statefulSet) && mayAdopt(situation)
      ? [{ kind: 'setStrategy', newPods: 'UpdateRevision' }]
      : [],
};
