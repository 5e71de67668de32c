import type { Step } from '../core/decision.ts';
import { afterResize, changed, handedOn, replaced, withoutDemotion, withStatefulSet } from '../core/expected.ts';
import type { ClusterSnapshot } from '../core/snapshot.ts';

/** The facts after the step has taken effect and everything has started. */
export function afterStep(snapshot: ClusterSnapshot, step: Step): ClusterSnapshot {
  switch (step.kind) {
    case 'none':
      return snapshot;
    case 'delete':
    case 'evict':
      return replaced(handedOn(snapshot, step.targets), step.targets);
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
        changed(snapshot, step.targets, (member) => ({ ...member, demote: true, demotedFor: step.revision })),
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
      return changed(replaced(snapshot, step.targets), step.targets, (member) => ({
        ...member,
        revision: snapshot.statefulSet?.currentRevision ?? '',
      }));
    case 'setPartition': {
      const lowered = withStatefulSet(snapshot, { partition: step.partition });
      const { targets } = step;
      return targets.length === 0 ? lowered : replaced(handedOn(lowered, targets), targets);
    }
    case 'promoteRevision':
      return withStatefulSet(snapshot, { currentRevision: step.revision });
  }
}
