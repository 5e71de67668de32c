import type { RolloutPolicy } from '../../src/core/policy.ts';
import type { ClusterSnapshot, ContainerFacts, MemberFacts } from '../../src/core/snapshot.ts';
import { off } from './judged-settings.ts';

// What the judge of decisions takes a member for, from its facts alone: nothing here comes from what decides.

const stopped =
  /^(CrashLoopBackOff|ImagePullBackOff|ErrImagePull|InvalidImageName|CreateContainer(Config)?Error|RunContainerError)$/;

const waitsWithoutEffect = ({ state, reason }: ContainerFacts): boolean =>
  state === 'waiting' && stopped.test(reason ?? '');

const mysqldsOf = ({ containers }: MemberFacts): readonly ContainerFacts[] =>
  containers.filter(({ part }) => part === 'mysqld');

export function lost(member: MemberFacts): boolean {
  if (member.phase !== 'Running' || member.ready || member.readinessGateClosed) return false;
  const spoken = member.initContainers.some(
    (one) => !one.ready && (one.state === 'running' || !['Completed', null].includes(one.reason)),
  );
  return !spoken && member.containers.length > 0 && !member.containers.some(({ ready }) => !ready);
}

export function participates({ cluster }: ClusterSnapshot, member: MemberFacts): boolean {
  if (member.terminatingForSeconds !== null || cluster.errantOrdinals.includes(member.ordinal)) return false;
  if (lost(member) || member.phase === 'Failed') return false;
  // A source that follows another database is not ready while that one is away.
  const source =
    cluster.replicatesFromElsewhere && member.ordinal === cluster.primaryIndex && member.role === 'primary';
  return mysqldsOf(member).some(({ ready, started, state }) => ready || (source && started && state === 'running'));
}

export function impaired(member: MemberFacts): boolean {
  const others = member.containers.filter(({ part, ready }) => part !== 'mysqld' && !ready);
  return (
    others.some((one) => waitsWithoutEffect(one) || one.notReadyForSeconds >= 60) ||
    member.initContainers.some(waitsWithoutEffect)
  );
}

/** It has restarted twice since it was last ready, or once more than an update in place has asked for. */
export function crashes({ containers, initContainers, restartInPlace }: MemberFacts): boolean {
  const { awaited = [], restarts: asked = {} } = restartInPlace ?? {};
  const again = ({ ready, restartsInVain }: ContainerFacts): boolean => !ready && restartsInVain > 1;
  return (
    initContainers.some(again) ||
    containers.some((one) => {
      const most = awaited.includes(one.name) ? asked[one.name] : undefined;
      if (most !== undefined) return !one.ready && !one.readySinceRestart && one.restarts > most;
      return one.part !== 'side' && again(one);
    })
  );
}

/** Seconds for which its mysqld has not been ready. */
export const behindSince = (member: MemberFacts): number =>
  Math.max(0, ...mysqldsOf(member).map(({ notReadyForSeconds }) => notReadyForSeconds));

/** mysqld has started, and has still to pass its startup probe or to catch up, within the time that it is given. */
export const recovers = (policy: RolloutPolicy, member: MemberFacts): boolean =>
  member.phase !== 'Failed' &&
  !mysqldsOf(member).some(({ ready }) => ready) &&
  mysqldsOf(member).some(
    ({ state, started, notReadyForSeconds }) =>
      state === 'running' &&
      (started
        ? member.mysqldStartedForSeconds < 90
        : notReadyForSeconds < (member.startupSeconds ?? policy.progressDeadlineSeconds)),
  );

/** It followed until less than a minute ago: its primary may be gone without Kubernetes knowing. */
export const justCeased = ({ cluster }: ClusterSnapshot, member: MemberFacts): boolean =>
  member.ordinal !== cluster.primaryIndex &&
  cluster.replicas > 1 &&
  member.phase !== 'Failed' &&
  !crashes(member) &&
  mysqldsOf(member).some(
    ({ state, started, ready, readySinceRestart, notReadyForSeconds }) =>
      state === 'running' &&
      started &&
      !ready &&
      notReadyForSeconds < 60 &&
      (member.role !== null || readySinceRestart),
  );

/** As far as its pod can say; a broken I/O thread is not shown by one. */
export function acknowledges(snapshot: ClusterSnapshot, member: MemberFacts): boolean {
  if (member.terminatingForSeconds !== null || lost(member) || crashes(member)) return false;
  if (snapshot.cluster.errantOrdinals.includes(member.ordinal)) return false;
  if (member.revision === snapshot.statefulSet?.updateRevision) return participates(snapshot, member);
  return mysqldsOf(member).some(({ state, started }) => state === 'running' && started);
}

/** mysqld does no work, and nothing is known to bring it back soon. */
export function down(snapshot: ClusterSnapshot, member: MemberFacts): boolean {
  if (member.terminatingForSeconds !== null || lost(member) || participates(snapshot, member)) return false;
  if (member.phase === 'Failed') return true;
  const mysqlds = mysqldsOf(member);
  if (mysqlds.some(({ state }) => state === 'running')) return false;
  const waits = [...mysqlds, ...member.initContainers].some(waitsWithoutEffect);
  return waits || member.unschedulable !== null || member.mysqldIdleForSeconds >= 60;
}

/** Nothing in it has failed yet, and it still has time to begin. */
export function slow(member: MemberFacts, { progressDeadlineSeconds }: RolloutPolicy): boolean {
  const essential = [...mysqldsOf(member), ...member.initContainers];
  const begun = essential.filter(({ state, reason }) => !(state === 'terminated' && reason === 'Completed'));
  const failed =
    essential.some(waitsWithoutEffect) || begun.some((one) => one.state === 'terminated' || one.restarts > 0);
  return !failed && !(member.mysqldIdleForSeconds >= progressDeadlineSeconds);
}

/**
 * The pod will work once its node is back or it has finished starting: no node that it could use accepts it, its node
 * has ended it, or a container before its mysqld has not finished. `tried` means that no mysqld of another template is
 * known to have used its data last, so a pod with this template has found a node before.
 */
export function awaitsItsStart(member: MemberFacts, policy: RolloutPolicy, tried: boolean): boolean {
  const { phase, unschedulable: message, containers, initContainers } = member;
  if (phase === 'Failed') return endedByItsNode(member);
  if ([...mysqldsOf(member), ...initContainers].some(waitsWithoutEffect)) return false;
  if (message !== null) return awaitsItsNode(message, tried);
  const isNew = (phase === 'Pending' || phase === 'Running') && containers.some(({ part }) => part === 'mysqld');
  const hasRun = mysqldsOf(member).some((one) => one.hasRun || one.restarts > 0);
  const isBegun = initContainers.every((one) =>
    one.sidecar ? one.hasRun : one.state === 'terminated' && one.reason === 'Completed',
  );
  return isNew && !hasRun && !isBegun && slow(member, policy);
}

/**
 * Where a node is cordoned, or a volume is elsewhere, a pod like those before it waits for one node, whatever keeps it
 * from the others. A taint alone shows nothing beside other reasons, and neither does a template that was never tried.
 */
function awaitsItsNode(message: string, tried: boolean): boolean {
  const reasons = message.split(/[:,.] /);
  const have = (...words: readonly RegExp[]): boolean => reasons.some((one) => words.some((word) => word.test(one)));
  const closed = [/\bwere unschedulable\b/, /\bvolume node affinity conflict\b/];
  if (tried && have(...closed, /\bPersistentVolume's node affinity\b/)) return true;
  return (
    have(...closed, /\buntolerated taint/) &&
    !have(/^\d+ Insufficient /, /\bdidn't (match|have free ports)\b/, /^\d+ Too many pods/)
  );
}

/**
 * Its node shuts down, is short of a resource, or makes room for another pod. A pod that exceeded its own limits does
 * not count.
 */
export const endedByItsNode = ({ phase, failedReason, disruption, exceededLimits }: MemberFacts): boolean =>
  phase === 'Failed' &&
  !exceededLimits &&
  (disruption !== null || /^(Terminated|(Node)?Shutdown|Evicted|Preempting|NodeAffinity)$/.test(failedReason ?? ''));

/** An updated member that has not yet served for long enough, as what MOCO has made it. */
export function unsettled(snapshot: ClusterSnapshot, policy: RolloutPolicy, member: MemberFacts): boolean {
  if (member.revision !== snapshot.statefulSet?.updateRevision) return false;
  const { restartInPlace } = member;
  const longEnough =
    (member.participatingForSeconds ?? Number.NaN) >= policy.minReadySeconds &&
    member.revisionForSeconds >= policy.minReadySeconds &&
    (restartInPlace === null ||
      (restartInPlace.awaited.length === 0 && restartInPlace.doneForSeconds >= policy.minReadySeconds));
  return !participates(snapshot, member) || !hasItsRole(snapshot, policy, member) || !longEnough;
}

/** It serves, and a container of it has still to come back from an update in place. */
export const restartsInPlace = (snapshot: ClusterSnapshot, policy: RolloutPolicy, member: MemberFacts): boolean =>
  member.revision === snapshot.statefulSet?.updateRevision &&
  participates(snapshot, member) &&
  hasItsRole(snapshot, policy, member) &&
  (member.restartInPlace?.awaited ?? []).length > 0;

/** A container that has to come back from an update in place can't. */
export const stuckInPlace = ({ containers, restartInPlace }: MemberFacts): boolean =>
  containers.some((one) => restartInPlace?.awaited.includes(one.name) && waitsWithoutEffect(one));

/** What MOCO has made it, or leaves it at in a cluster that it calls Healthy. */
export function hasItsRole({ cluster }: ClusterSnapshot, policy: RolloutPolicy, member: MemberFacts): boolean {
  const { ordinal, role, participatingForSeconds } = member;
  const leads = ordinal === cluster.primaryIndex;
  if (role !== null || (leads && !cluster.replicatesFromElsewhere)) return role === (leads ? 'primary' : 'replica');
  const allInSync = cluster.healthy && cluster.syncedReplicas === cluster.replicas;
  return allInSync && (participatingForSeconds ?? Number.NaN) >= policy.failoverGraceSeconds;
}

export function rolesMove(snapshot: ClusterSnapshot, policy: RolloutPolicy): boolean {
  const { cluster, members } = snapshot;
  const serving = members.filter((one) => participates(snapshot, one));
  const primary = serving.find(({ ordinal }) => ordinal === cluster.primaryIndex);
  const { mocoState } = cluster;
  const isOver =
    mocoState === 'Failed' || mocoState === 'Lost'
      ? off(policy, 'FailoverUnfinished')
      : mocoState === 'Incomplete' && (cluster.primarySettledForSeconds ?? 0) >= policy.failoverGraceSeconds;
  const opening = !cluster.available && primary !== undefined && !isOver;
  return opening || !serving.every((one) => hasItsRole(snapshot, policy, one));
}
