import type { Hold, Step } from '../core/decision.ts';
import type { InPlaceUpdate } from '../core/in-place.ts';
import { afterSeconds, atOpening } from '../core/openings.ts';
import type { ClusterSnapshot } from '../core/snapshot.ts';
import {
  changed,
  everyMember,
  handedOn,
  moved,
  openBudgets,
  recovered,
  replaced,
  withMissing,
  withoutDemotion,
} from './expected-members.ts';

type Replacement = Extract<Hold, { rule: 'UpdatedMemberNotParticipating' }>;

/** The rollout waits until another program has replaced a member. */
export const isReplacement = (hold: Hold): hold is Replacement =>
  hold.rule === 'UpdatedMemberNotParticipating' && hold.wait.for === 'revision';

/** The facts after the step has taken effect and everything has started. */
export function afterStep(snapshot: ClusterSnapshot, step: Step): ClusterSnapshot {
  const { statefulSet } = snapshot;
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
      return {
        ...snapshot,
        statefulSet: statefulSet && {
          ...statefulSet,
          strategy: 'RollingUpdate',
          labelled: false,
          partition: snapshot.cluster.replicas,
        },
      };
    case 'setStrategy':
      return {
        ...snapshot,
        statefulSet: statefulSet && { ...statefulSet, strategy: 'OnDelete', labelled: true, partition: null },
      };
    case 'setPartition': {
      const lowered = { ...snapshot, statefulSet: statefulSet && { ...statefulSet, partition: step.partition } };
      const { targets } = step;
      return targets.length === 0 ? lowered : afterUpdate(replaced(handedOn(lowered, targets), targets));
    }
    case 'promoteRevision':
      return { ...snapshot, statefulSet: statefulSet && { ...statefulSet, currentRevision: step.revision } };
  }
}

/** The kubelet has resized the pod, and the patch can follow. */
const afterResize = (inPlace: InPlaceUpdate | null): InPlaceUpdate | null =>
  inPlace?.kind === 'possible'
    ? { kind: 'possible', change: { ...inPlace.change, resources: [] }, resize: null }
    : inPlace;

/** Maintenance windows go by while a member is updated. */
const afterUpdate = ({ maintenance, ...snapshot }: ClusterSnapshot): ClusterSnapshot => ({
  ...snapshot,
  maintenance: maintenance && afterSeconds(maintenance, maintenance.memberSeconds),
});

/** The facts after the wait, or `null` if only a person can end it. */
export function afterWait(snapshot: ClusterSnapshot, hold: Hold): ClusterSnapshot | null {
  const { cluster, statefulSet } = snapshot;
  switch (hold.rule) {
    case 'AwaitingOwnWrite':
      return { ...snapshot, ownWritePending: null };
    case 'StatefulSetNotObserved':
      return statefulSet?.updateRevision ? { ...snapshot, statefulSet: { ...statefulSet, observed: true } } : null;
    case 'NotReconciled':
      return {
        ...snapshot,
        cluster: { ...cluster, reconciledGeneration: cluster.generation, succeededGeneration: cluster.generation },
      };
    case 'FleetFailing':
    case 'StageFailing':
    case 'SequenceConflict':
    case 'SequenceInvalid':
    case 'SequencesUnreadable':
    case 'AwaitingEarlierStage':
    case 'AwaitingSoak':
    case 'AwaitingSettle':
    case 'AwaitingStageSlot':
      return { ...snapshot, fleetWaits: snapshot.fleetWaits.filter(({ hold: one }) => one.rule !== hold.rule) };
    case 'AwaitingFleetSlot':
      return { ...snapshot, fleetQueue: null };
    case 'AwaitingFleetInterval':
      return { ...snapshot, fleetInterval: null };
    case 'OutsideMaintenanceWindow':
    case 'Blackout':
    case 'RestartNeeded':
      return snapshot.maintenance === null || hold.opensAt === null
        ? null
        : { ...snapshot, maintenance: atOpening(snapshot.maintenance, hold.opensAt) };
    case 'RevisionFlapping':
      return { ...snapshot, memory: { ...snapshot.memory, recentRevisionAgesSeconds: [] } };
    case 'SwitchoverFailing':
      return hold.retries ? { ...snapshot, memory: { ...snapshot.memory, switchoverTries: 0 } } : null;
    case 'BackupRunning':
      return { ...snapshot, backupJobActive: false, budgets: openBudgets(snapshot) };
    case 'BlockedByPDB':
      return hold.cause === 'several' ? null : { ...snapshot, budgets: openBudgets(snapshot) };
    case 'MemberProtected':
      return everyMember(snapshot, (member) => ({ ...member, preventDelete: false }));
    case 'AwaitingSwitchover':
    case 'SwitchoverInProgress':
      return moved(snapshot, [hold.member]);
    case 'AwaitingFailover':
      return moved(snapshot, [hold.primary]);
    case 'MemberMissing':
      return hold.message === null && statefulSet !== null
        ? { ...snapshot, members: withMissing(snapshot, hold.members, statefulSet.updateRevision) }
        : null;
    case 'MemberTerminating':
      return replaced(
        snapshot,
        snapshot.members.filter((member) => member.terminatingForSeconds !== null),
      );
    case 'AwaitingMoco': {
      const taken = snapshot.members.filter(
        ({ ordinal, revision }) => ordinal === hold.member && revision !== statefulSet?.updateRevision,
      );
      return replaced(
        {
          ...handedOn(snapshot, taken),
          statefulSet: statefulSet && { ...statefulSet, partition: hold.partition },
        },
        taken,
      );
    }
    case 'UpdatedMemberNotParticipating': {
      const behind = snapshot.members.filter(({ ordinal }) => isReplacement(hold) && ordinal === hold.member);
      return recovered(replaced(handedOn(snapshot, behind), behind));
    }
    case 'AwaitingResize':
      return changed(
        snapshot,
        snapshot.members.filter(({ ordinal }) => ordinal === hold.member),
        (member) => ({ ...member, inPlace: afterResize(member.inPlace) }),
      );
    // The answers of replicas and of Prometheus are replaced with every entry.
    case 'ReplicasBehind':
    case 'CheckFailing':
    case 'CheckUnavailable':
      return snapshot;
    case 'RolesNotSettled':
    case 'AwaitingRecovery':
    case 'MaxUnavailableReached':
    case 'BatchNotComplete':
    case 'ClusterNotHealthy':
    case 'NotEnoughAcknowledging':
      return recovered(snapshot);
    default:
      return null;
  }
}
