import {
  annotationOn,
  clusteringStoppedAnnotation,
  forceRollingUpdateAnnotation,
  newPodsAtCurrentRevision,
  newPodsLabel,
  reconciliationStoppedAnnotation,
  releasedAnnotation,
  strategyLabel,
  strategyOnDelete,
} from '../../../src/moco/names.ts';
import { isOpen } from './maintenance.ts';
import { isPrimary, isUpdated, primaryOf, updateRevisionOf } from './member.ts';
import type { Moment } from './moment.ts';

// From whom the update revision is held, and what admission makes of the StatefulSet, according to the objects.

/** Why a member is to keep its revision, whatever the state of the update revision is; `null` if nothing says so. */
export function heldBecause(moment: Moment, ordinal: number, wallMilliseconds: number): string | null {
  const { cluster, settings } = moment;
  const {
    paused = false,
    repairWhilePaused = false,
    partition = 0,
    pinnedMembers = [],
    maintenanceWindows = [],
    primaryUpdatePolicy,
    lostMembers,
    overrides = [],
  } = settings?.spec ?? {};
  if (pinnedMembers.some((one) => one.ordinal === ordinal)) return 'pinned';
  if (ordinal < partition) return 'below the partition';
  if (lostMembers === 'KeepRevision') return 'by the setting';
  // Which rule is overridden until when is not judged.
  if (overrides.length > 0) return null;
  if (paused && !repairWhilePaused) return 'paused';
  const waits = primaryUpdatePolicy === 'Manual' && !isApproved(moment);
  if (waits && ordinal === primaryOf(moment)) return 'not approved';
  if (ordinal === primaryOf(moment) && isBesidePinned(moment)) return 'beside a pinned replica';
  const isClosed = maintenanceWindows.length > 0 && !maintenanceWindows.some((one) => isOpen(one, wallMilliseconds));
  if (isClosed) return 'outside of the maintenance windows';
  const { annotations = {} } = cluster?.metadata ?? {};
  const isStopped = [clusteringStoppedAnnotation, reconciliationStoppedAnnotation].some(
    (name) => annotations[name] === annotationOn,
  );
  return isStopped ? 'stopped' : null;
}

/** A primary is not newer than a replica that is kept at an older revision. */
function isBesidePinned(moment: Moment): boolean {
  const { partition = 0, pinnedMembers = [] } = moment.settings?.spec ?? {};
  return moment.members.some(
    (one) =>
      !isPrimary(moment, one) &&
      !isUpdated(moment, one) &&
      one.ordinal >= partition &&
      pinnedMembers.some(({ ordinal }) => ordinal === one.ordinal),
  );
}

/** By the full name of the revision, or by the hash at its end. */
export function isApproved(moment: Moment): boolean {
  const { approvedRevision = '' } = moment.settings?.spec ?? {};
  const revision = updateRevisionOf(moment);
  return [revision, revision.slice(revision.lastIndexOf('-') + 1)].includes(approvedRevision);
}

/** New pods start at the current revision, and no member is replaced. */
export function keepsRevisions({ statefulSet }: Moment): boolean {
  const { type, rollingUpdate } = statefulSet?.spec.updateStrategy ?? {};
  const { replicas = 1 } = statefulSet?.spec ?? {};
  return (
    statefulSet?.metadata.labels?.[newPodsLabel] === newPodsAtCurrentRevision &&
    type === 'RollingUpdate' &&
    (rollingUpdate?.partition ?? 0) >= replicas
  );
}

/** The program decides when each pod is replaced. */
export function isAdopted(moment: Moment): boolean {
  const { labels } = moment.statefulSet?.metadata ?? {};
  if (labels?.[strategyLabel] !== strategyOnDelete) return false;
  return moment.statefulSet?.spec.updateStrategy?.type === 'OnDelete' || keepsRevisions(moment);
}

/** What the program needs to change what new pods start at. */
export function mayChangeNewPods(moment: Moment): boolean {
  const { cluster, statefulSet, settings } = moment;
  if (cluster === null || statefulSet === null || settings === null) return false;
  const isGoing = [cluster, statefulSet, settings].some(({ metadata }) => metadata.deletionTimestamp !== undefined);
  const isForced = [cluster, statefulSet].some(
    ({ metadata }) => metadata.annotations?.[forceRollingUpdateAnnotation] === annotationOn,
  );
  const isReleased = cluster.metadata.annotations?.[releasedAnnotation] !== undefined;
  const isObserved = (statefulSet.status?.observedGeneration ?? 0) >= (statefulSet.metadata.generation ?? 0);
  return isAdopted(moment) && isObserved && !isGoing && !isForced && !isReleased && cluster.spec.offline !== true;
}
