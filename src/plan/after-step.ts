import type { Step } from '../core/decision.ts';
import { afterResize, changed, handedOn, replaced, withoutDemotion, withStatefulSet } from '../core/expected.ts';
import type { ClusterSnapshot, MemberFacts } from '../core/snapshot.ts';
import { replacesForRevision } from '../core/step.ts';

const sameRevision = ({ revision }: MemberFacts): string => revision;

/** The facts once the step has taken effect and its pods have started. */
export function afterStep(snapshot: ClusterSnapshot, step: Step): ClusterSnapshot {
  switch (step.kind) {
    case 'none':
      return snapshot;
    case 'delete':
    case 'evict': {
      const revisionOf = replacesForRevision(step.kind, step.rule) ? undefined : sameRevision;
      return replaced(handedOn(snapshot, step.targets), step.targets, revisionOf);
    }
    case 'updateInPlace':
      return changed(snapshot, step.targets, (member) => ({
        ...member,
        revision: step.revision,
        revisionForSeconds: Number.MAX_SAFE_INTEGER,
        inPlace: null,
        restartInPlace: null,
      }));
    case 'resizeInPlace':
      return changed(snapshot, step.targets, (member) => ({ ...member, inPlace: afterResize(member.inPlace) }));
    case 'demote':
      return handedOn(
        changed(snapshot, step.targets, (member) => ({ ...member, demote: true, demotedFor: step.mark })),
        step.targets,
      );
    case 'undemote':
      return changed(snapshot, step.targets, withoutDemotion);
    case 'release':
      return withStatefulSet(snapshot, {
        strategy: 'RollingUpdate',
        labelled: false,
        newPods: 'UpdateRevision',
        partition: snapshot.cluster.replicas,
      });
    case 'setStrategy':
      return withStatefulSet(
        snapshot,
        step.newPods === 'UpdateRevision'
          ? { strategy: 'OnDelete', labelled: true, newPods: 'UpdateRevision', partition: null }
          : { strategy: 'RollingUpdate', newPods: 'CurrentRevision', partition: snapshot.cluster.replicas },
      );
    case 'restore':
      return replaced(snapshot, step.targets, () => snapshot.statefulSet?.currentRevision ?? '');
    case 'setPartition': {
      const lowered = withStatefulSet(snapshot, { partition: step.partition });
      const { targets } = step;
      return targets.length === 0 ? lowered : replaced(handedOn(lowered, targets), targets);
    }
    case 'promoteRevision':
      return withStatefulSet(snapshot, { currentRevision: step.revision });
  }
}
