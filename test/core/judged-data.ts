import type { RolloutPolicy } from '../../src/core/policy.ts';
import type { ClusterSnapshot, DataRecord, MemberFacts, StatefulSetFacts } from '../../src/core/snapshot.ts';
import { lost } from './judged-members.ts';
import { off } from './judged-settings.ts';
import { isRefused } from './judged-versions.ts';

// What the judge of decisions takes the data of a member for, from the facts alone: nothing here comes from what decides.

export const keepsRevisions = (set: StatefulSetFacts | null): boolean =>
  set?.newPods === 'CurrentRevision' && set.strategy === 'RollingUpdate' && set.partition === set.replicas;

/**
 * The newest mysqld that has started on the data; `null` if that is unknown. It was seen to work, or the claim names it
 * and no other mysqld can have started since.
 */
export function dataNoted(snapshot: ClusterSnapshot, ordinal: number): DataRecord | null {
  const { lastRuns, dataRecords, members, statefulSet } = snapshot;
  const run = lastRuns.find((one) => one.ordinal === ordinal);
  if (run?.worked) return run;
  const noted = dataRecords.find((one) => one.ordinal === ordinal)?.record ?? null;
  if (noted === null) return null;
  const pod = members.find((one) => one.ordinal === ordinal);
  const possible = run === undefined ? [statefulSet?.updateRevision, pod?.revision] : [run.revision];
  if (run === undefined && keepsRevisions(statefulSet)) possible.push(statefulSet?.currentRevision);
  return possible.includes(noted.revision) ? noted : null;
}

/** The revision of the newest mysqld that has started on the data; `null` if that is unknown. */
export const dataRevision = (snapshot: ClusterSnapshot, ordinal: number): string | null =>
  dataNoted(snapshot, ordinal)?.revision ?? null;

/** The API server has said within five seconds that nothing can have been written for it: no claim, or no volume. */
const hasNowhereToWrite = (snapshot: ClusterSnapshot, ordinal: number): boolean =>
  snapshot.dataRecords.some(
    (one) =>
      one.ordinal === ordinal &&
      one.ageSeconds < 5 &&
      (one.claim === 'missing' || (one.claim === 'unbound' && one.record === null)),
  );

/**
 * Whether a mysqld of the revision may start on the data: either the newest one was of this revision, or no other can
 * have started, because there was no claim and no volume, or because the claim was created together with the existing
 * pod.
 */
export function opensAt(snapshot: ClusterSnapshot, ordinal: number, revision: string | undefined): boolean {
  if (dataRevision(snapshot, ordinal) === revision) return true;
  const known = snapshot.dataRecords.find((one) => one.ordinal === ordinal);
  const run = snapshot.lastRuns.find((one) => one.ordinal === ordinal);
  const pod = snapshot.members.find((one) => one.ordinal === ordinal);
  const isEmpty = hasNowhereToWrite(snapshot, ordinal);
  if (pod === undefined) return isEmpty && run === undefined;
  const isFirst = known?.record === null && (known.claim === 'madeForPod' || (known.claim === 'unbound' && isEmpty));
  return isFirst && pod.revision === revision && (run === undefined || run.revision === revision);
}

/** The member has never had a pod that a step or another client could have deleted: the cluster is being scaled up. */
const isNew = (snapshot: ClusterSnapshot, ordinal: number): boolean => {
  const { lastRuns, members, memory } = snapshot;
  return (
    hasNowhereToWrite(snapshot, ordinal) &&
    ![...lastRuns, ...members, ...memory.taken].some((one) => one.ordinal === ordinal)
  );
};

/** Every ordinal that has a member, or should have. */
export const everyOrdinal = ({ cluster, members }: ClusterSnapshot): readonly number[] => {
  const wanted = Number.isInteger(cluster.replicas) && cluster.replicas <= 1000 ? Math.max(0, cluster.replicas) : 0;
  return [...new Set([...Array(wanted).keys(), ...members.map(({ ordinal }) => ordinal)])];
};

const goes = (one: MemberFacts): boolean => one.terminatingForSeconds !== null || one.phase === 'Failed' || lost(one);

/** Its pod is going or gone, so another one is about to be created; and no step has taken it to restore it. */
export function awaitsPod(snapshot: ClusterSnapshot, ordinal: number): boolean {
  const { members, memory } = snapshot;
  const pod = members.find((one) => one.ordinal === ordinal);
  const isRestored = memory.taken.some(
    (one) => one.restores && one.ordinal === ordinal && (pod === undefined || pod.uid === one.uid),
  );
  return (pod === undefined || goes(pod)) && !isRestored;
}

/** A pod that is created at the revision now may be that of a member whose data are of another one, or not known. */
export const setsBack = (snapshot: ClusterSnapshot, revision: string | undefined): boolean =>
  everyOrdinal(snapshot).some((ordinal) => awaitsPod(snapshot, ordinal) && !opensAt(snapshot, ordinal, revision));

/**
 * A member that somebody has paused, pinned or kept below the partition is going, ends in its time, and would come back
 * at the revision of its data.
 */
export function wouldStay(snapshot: ClusterSnapshot, policy: RolloutPolicy): boolean {
  const { members, statefulSet, memory } = snapshot;
  if (!keepsRevisions(statefulSet) || setsBack(snapshot, statefulSet?.currentRevision)) return false;
  const isOwn = (ordinal: number): boolean =>
    memory.waiting !== null &&
    !memory.waiting.includes(ordinal) &&
    !isNew(snapshot, ordinal) &&
    awaitsPod(snapshot, ordinal);
  if (everyOrdinal(snapshot).some(isOwn)) return false;
  return members.some((one) => {
    const { ordinal, revision, terminatingForSeconds: seconds, graceSeconds } = one;
    const isPaused = policy.paused && !policy.repairWhilePaused;
    const isHeld = isPaused || policy.pinnedOrdinals.includes(ordinal) || ordinal < policy.partition;
    const endsInTime = seconds !== null && seconds < graceSeconds + 30;
    return isHeld && endsInTime && revision !== statefulSet?.updateRevision && awaitsPod(snapshot, ordinal);
  });
}

/**
 * A member has no pod, no step has deleted it, and its next pod would start at the revision of its data, which the
 * mysqld of the update revision refuses.
 */
export function wouldBeRefused(snapshot: ClusterSnapshot, policy: RolloutPolicy): boolean {
  const { members, statefulSet: set, memory, createFailure } = snapshot;
  const comesUp = set?.currentRevision === set?.updateRevision;
  if (set?.labelled !== true || !keepsRevisions(set) || comesUp || setsBack(snapshot, set.currentRevision))
    return false;
  const isRolling = memory.waiting !== null || members.some(({ revision }) => revision !== set.updateRevision);
  const isRestored = memory.taken.some(({ restores }) => restores);
  if (off(policy, 'VersionRefused') || !isRolling || isRestored || createFailure !== null) return false;
  return everyOrdinal(snapshot).some(
    (ordinal) =>
      !members.some((one) => one.ordinal === ordinal) &&
      memory.waiting?.includes(ordinal) !== false &&
      isRefused(snapshot, dataNoted(snapshot, ordinal)?.version ?? null),
  );
}

/**
 * A person has paused the rollout, new pods start at the revision of the data of every member that has data, and the
 * rollout has nothing under way that needs another pod.
 */
export function restsWhilePaused(snapshot: ClusterSnapshot, policy: RolloutPolicy): boolean {
  const { members, statefulSet, memory, strategyKeeper } = snapshot;
  if (!policy.paused || policy.repairWhilePaused || strategyKeeper === 'webhook') return false;
  const current = statefulSet?.currentRevision;
  const isStale = (one: MemberFacts): boolean => one.revision !== statefulSet?.updateRevision;
  const isUnderWay = (one: MemberFacts): boolean =>
    one.demotedFor !== null ||
    (one.inPlace?.kind === 'possible' && one.inPlace.resize !== null) ||
    (isStale(one) && goes(one) && memory.waiting?.includes(one.ordinal) === false);
  return (
    keepsRevisions(statefulSet) &&
    statefulSet?.labelled === true &&
    current !== statefulSet.updateRevision &&
    members.some(isStale) &&
    !members.some(isUnderWay) &&
    everyOrdinal(snapshot).every((ordinal) => opensAt(snapshot, ordinal, current))
  );
}
