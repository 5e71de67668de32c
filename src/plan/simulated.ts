import type { Hold, Step } from '../core/decision.ts';
import { afterResize, changed, handedOn, replaced, withoutDemotion, withStatefulSet } from '../core/expected.ts';
import { afterSeconds } from '../core/maintenance.ts';
import { assumedEnd } from '../core/rules/catalogue.ts';
import type { ClusterSnapshot } from '../core/snapshot.ts';

type Replacement = Extract<Hold, { rule: 'UpdatedMemberNotParticipating' }>;

/** The rollout waits until another program has replaced a member. */
export const isReplacement = (hold: Hold): hold is Replacement =>
  hold.rule === 'UpdatedMemberNotParticipating' && hold.wait.for === 'revision';

/** The facts after the step has taken effect and everything has started. */
export function afterStep(snapshot: ClusterSnapshot, step: Step): ClusterSnapshot {
  switch (step.kind) {
    case 'none':
      return snapshot;
    case 'delete':
    case 'evict':
      return afterUpdate(replaced(handedOn(snapshot, step.targets), step.targets));
    case 'updateInPlace': {
      const updated = changed(snapshot, step.targets, (member) => ({
        ...member,
        revision: step.revision,
        revisionForSeconds: Number.MAX_SAFE_INTEGER,
        inPlace: null,
        restartInPlace: null,
      }));
      return step.rule === 'NothingRestarts' ? updated : afterUpdate(updated);
    }
    case 'resizeInPlace': {
      const resized = changed(snapshot, step.targets, (member) => ({
        ...member,
        inPlace: afterResize(member.inPlace),
      }));
      return step.rule === 'ResizeRestartsNothing' ? resized : afterUpdate(resized);
    }
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
      return targets.length === 0 ? lowered : afterUpdate(replaced(handedOn(lowered, targets), targets));
    }
    case 'promoteRevision':
      return withStatefulSet(snapshot, { currentRevision: step.revision });
  }
}

/** Maintenance windows go by while a member is updated. */
const afterUpdate = ({ maintenance, ...snapshot }: ClusterSnapshot): ClusterSnapshot => ({
  ...snapshot,
  maintenance: maintenance && afterSeconds(maintenance, maintenance.memberSeconds),
});

/** The facts after the wait, or `null` if nobody can know them: only a person ends it, as a rule. */
export const afterWait = (snapshot: ClusterSnapshot, hold: Hold): ClusterSnapshot | null =>
  assumedEnd(hold)?.facts(snapshot, hold) ?? null;
