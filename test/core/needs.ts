import type { Step } from '../../src/core/decision.ts';
import type { EffectKind } from '../../src/core/effects.ts';
import type { RolloutPolicy } from '../../src/core/policy.ts';
import type { ClusterSnapshot, Interval, MemberFacts } from '../../src/core/snapshot.ts';
import { happenings, leavesNode } from './happenings.ts';
import { dataRevision } from './judged-data.ts';
import {
  awaitsItsStart,
  behindSince,
  crashes,
  down,
  endedByItsNode,
  hasItsRole,
  impaired,
  justCeased,
  lost,
  participates,
  recovers,
  restartsInPlace,
  rolesMove,
  slow,
  stuckInPlace,
  unsettled,
} from './judged-members.ts';
import { approved, kept, off, room } from './judged-settings.ts';
import { hasOlderReplicaCluster, isNoDonor, redoLogLeft, refusesData } from './judged-versions.ts';

/** What a step can need of the whole cluster; true when it is met. */
type Need = (snapshot: ClusterSnapshot, policy: RolloutPolicy, going: readonly MemberFacts[]) => boolean;

const serving = (snapshot: ClusterSnapshot): readonly MemberFacts[] =>
  snapshot.members.filter((one) => participates(snapshot, one));
const primaryOf = ({ cluster, members }: ClusterSnapshot): MemberFacts | undefined =>
  members.find(({ ordinal }) => ordinal === cluster.primaryIndex);
/** Fewer are away than may be; one that has only just come back still is. */
const somebodyMayGo: Need = (snapshot, policy) => {
  const inPlace = serving(snapshot).filter((one) => !unsettled(snapshot, policy, one));
  return snapshot.cluster.replicas - inPlace.length < room(snapshot, policy);
};
const everyOther: Need = (snapshot, _policy, going) =>
  serving(snapshot).filter((one) => !going.includes(one)).length >= snapshot.cluster.replicas - 1;
const majorityServes: Need = (snapshot) =>
  snapshot.cluster.replicas === 1 || serving(snapshot).length > snapshot.cluster.replicas / 2;
const nobodyServes: Need = (snapshot) => serving(snapshot).length === 0;
const graceOver: Need = ({ cluster }, policy) =>
  (cluster.primaryUnavailableForSeconds ?? 0) >= policy.failoverGraceSeconds;
const rolesRest: Need = (snapshot, policy) => {
  const primary = primaryOf(snapshot);
  if (rolesMove(snapshot, policy) || (primary?.terminatingForSeconds ?? null) !== null) return false;
  const asked = primary?.demote === true && primary.demotedFor === null;
  return !asked || primary.demoteForSeconds >= policy.switchoverTimeoutSeconds;
};
const nobodyLeaves: Need = ({ members }) =>
  members.every(({ terminatingForSeconds }) => terminatingForSeconds === null);
/** With room for more than one only those that fail are in the way. */
const nobodyUnsettled: Need = (snapshot, policy) =>
  !snapshot.members.some(
    (one) =>
      unsettled(snapshot, policy, one) &&
      (room(snapshot, policy) < 2 || down(snapshot, one) || crashes(one) || restartsInPlace(snapshot, policy, one)),
  );
const noBackup: Need = ({ backupJobs, backupsUnreadable, budgets }, policy) =>
  (off(policy, 'BackupRunning') || (backupJobs.length === 0 && !budgets.some((one) => one.closed && one.ofMoco))) &&
  (off(policy, 'BackupsUnreadable') || backupsUnreadable === null);
const noForeignDemote: Need = ({ members }, policy) =>
  off(policy, 'ForeignDemote') ||
  !members.some((one) => one.demote && one.demotedFor === null && one.terminatingForSeconds === null);
/** MOCO may miss those on their way where more than one may be. */
const healthy: Need = (snapshot, policy) => {
  const { cluster, members, statefulSet } = snapshot;
  if (cluster.healthy && cluster.syncedReplicas === cluster.replicas) return true;
  const coming = members.filter(
    (one) =>
      one.terminatingForSeconds !== null ||
      (one.revision === statefulSet?.updateRevision && !participates(snapshot, one)),
  );
  const enough = cluster.syncedReplicas + coming.length >= cluster.replicas;
  return room(snapshot, policy) > 1 && cluster.available && coming.length > 0 && enough;
};
const budgetAllows: Need = ({ budgets }) =>
  budgets.length <= 1 && budgets.every((one) => one.observed && one.disruptionsAllowed >= 1);
const observed: Need = ({ budgets, unobservedEvictions }, policy) =>
  budgets.length === 0 || unobservedEvictions < 5 || off(policy, 'DisruptionControllerBehind');
const retryDelaysSeconds = [0, 300, 900, 2700];
const notTooManyTries: Need = (snapshot, policy) => {
  const { switchoverTries, sinceLastTrySeconds } = snapshot.memory;
  if (switchoverTries === 0 || off(policy, 'SwitchoverFailing')) return true;
  const afterTheLast = approved(policy, snapshot) ? 2700 : Infinity;
  return sinceLastTrySeconds >= (retryDelaysSeconds[switchoverTries] ?? afterTheLast);
};
const slot: Need = ({ fleetWaits, fleetQueue, fleetInterval }, policy) =>
  fleetWaits.every(({ hold, remainingSeconds }) => remainingSeconds === 0 || off(policy, hold.rule)) &&
  (fleetQueue === null || off(policy, 'AwaitingFleetSlot')) &&
  (fleetInterval === null ||
    off(policy, 'AwaitingFleetInterval') ||
    fleetInterval.sinceSeconds >= fleetInterval.seconds);
/** Everybody who goes is broken, or writes have stopped. */
const repairs = (snapshot: ClusterSnapshot, going: readonly MemberFacts[]): boolean => {
  const primary = primaryOf(snapshot);
  if (!primary || !participates(snapshot, primary)) return true;
  return going.every((one) => !participates(snapshot, one) && (down(snapshot, one) || crashes(one)));
};
/** Judged at the beginning of the step and whenever a window or a blackout begins or ends, unless the step repairs. */
const inTime: Need = (snapshot, policy, going) =>
  fits(snapshot, policy, going, snapshot.cluster.replicas > 1 ? policy.switchoverTimeoutSeconds : 0);
const inTimeInPlace: Need = (snapshot, policy, going) => fits(snapshot, policy, going, 0);

function fits(
  snapshot: ClusterSnapshot,
  policy: RolloutPolicy,
  going: readonly MemberFacts[],
  switchoverSeconds: number,
): boolean {
  return repairs(snapshot, going) || isOpen(snapshot, policy, going, switchoverSeconds);
}

function isOpen(
  snapshot: ClusterSnapshot,
  policy: RolloutPolicy,
  going: readonly MemberFacts[],
  switchoverSeconds: number,
): boolean {
  const { maintenance } = snapshot;
  const primary = primaryOf(snapshot);
  if (maintenance === null || !primary) return true;
  const { windows, blackouts, memberSeconds } = maintenance;
  const seconds = memberSeconds + (going.includes(primary) ? switchoverSeconds : 0);
  const changes = [...(windows ?? []), ...blackouts].flatMap(({ from, until }) => [from.inSeconds, until.inSeconds]);
  return [0, ...changes.map(Math.ceil)].every((second) => {
    if (second < 0 || second >= seconds) return true;
    const isWithin = windows === null || during(windows, second) || off(policy, 'OutsideMaintenanceWindow');
    return isWithin && (!during(blackouts, second) || off(policy, 'Blackout'));
  });
}
/** Every check has passed within five seconds, or may not matter; what can't be answered counts for half a minute. */
const passed: Need = (snapshot, policy, going) => repairs(snapshot, going) || allPassed(snapshot, policy, going);
const allPassed: Need = ({ checks }, policy) => {
  const [mayFail, mayBeSilent] = [off(policy, 'CheckFailing'), off(policy, 'CheckUnavailable')];
  if (mayFail && mayBeSilent) return true;
  return checks.every(({ reading, ageSeconds }) => {
    if (reading?.kind === 'passing') return !(ageSeconds >= 5);
    if (reading?.kind === 'failing') return mayFail && !(ageSeconds >= 60);
    return reading?.kind === 'unknown' && mayBeSilent && !(ageSeconds >= 30);
  });
};
const approval: Need = (snapshot, policy) => policy.primaryUpdatePolicy === 'Automatic' || approved(policy, snapshot);
const nonePinnedBehind: Need = ({ members, statefulSet }, policy) =>
  off(policy, 'PrimaryWaitsForPinned') ||
  !members.some(
    (one) =>
      one.revision !== statefulSet?.updateRevision &&
      policy.pinnedOrdinals.includes(one.ordinal) &&
      one.ordinal >= policy.partition,
  );
const notKept: Need = (_snapshot, policy, going) => going.every((one) => !kept(policy, one));
/** MOCO blocks writes until the replicas have caught up; the unknown is worth a while. */
const othersCaughtUp: Need = (snapshot, policy) => {
  const { replicationDelays, cluster } = snapshot;
  const { maxReplicaDelaySeconds: limit, replicaDelayGraceSeconds: grace } = policy;
  if (off(policy, 'ReplicasBehind')) return true;
  const replicas = serving(snapshot).filter(({ ordinal }) => ordinal !== cluster.primaryIndex);
  return replicas.every((one) => {
    const said = replicationDelays.find(({ uid }) => uid === one.uid);
    if (said === undefined || said.ageSeconds >= 5) return false;
    const { reading } = said;
    if (reading.kind === 'delay' && reading.seconds < limit) return true;
    if (reading.kind === 'unknown') return said.unknownForSeconds >= grace;
    return false;
  });
};
/** Whoever is created now starts at the update revision. */
const comesUpUpdated: Need = ({ statefulSet }, policy) =>
  policy.mode !== 'OnDelete' || statefulSet?.newPods !== 'CurrentRevision';
const unprotected: Need = (_snapshot, _policy, going) => going.every(({ preventDelete }) => !preventDelete);
/** MOCO has applied what is wanted, the cluster has begun its life, and it has its size. */
const applied: Need = ({ cluster, statefulSet, members }) =>
  cluster.reconciledGeneration === cluster.generation &&
  cluster.succeededGeneration === cluster.generation &&
  cluster.initialized &&
  statefulSet?.replicas === cluster.replicas &&
  members.length === cluster.replicas;
const revisionStands: Need = (snapshot, policy) => !revisionFails(snapshot, policy);
const revisionStandsOrQuorumLost: Need = (snapshot, policy) =>
  !revisionFails(snapshot, policy) ||
  (snapshot.memory.sinceProgressSeconds >= policy.progressDeadlineSeconds &&
    serving(snapshot).length <= snapshot.cluster.replicas / 2);

/** An updated member has participated for long enough. */
export function hasServed(snapshot: ClusterSnapshot, { minReadySeconds }: RolloutPolicy): boolean {
  return snapshot.members.some((one) => {
    const { revision, participatingForSeconds, revisionForSeconds, restartInPlace: restart } = one;
    return (
      revision === snapshot.statefulSet?.updateRevision &&
      participates(snapshot, one) &&
      (participatingForSeconds ?? 0) >= minReadySeconds &&
      revisionForSeconds >= minReadySeconds &&
      (restart === null || (restart.awaited.length === 0 && restart.doneForSeconds >= minReadySeconds))
    );
  });
}

/** An updated member is down or crash-loops for a reason that its revision can have, and none has ever served. */
function revisionFails(snapshot: ClusterSnapshot, policy: RolloutPolicy): boolean {
  const { memory, members, statefulSet } = snapshot;
  const updated = members.filter(({ revision }) => revision === statefulSet?.updateRevision);
  if (off(policy, 'UpdateRevisionFailing')) return false;
  if (memory.verified || hasServed(snapshot, policy)) return false;
  if (policy.restore?.revision === statefulSet?.updateRevision) return true;
  return updated.some((one) => {
    if (endedByItsNode(one)) return false;
    if (one.terminatingForSeconds !== null || lost(one) || memory.takenDown.includes(one.ordinal)) return false;
    if (participates(snapshot, one) && !restartsInPlace(snapshot, policy, one)) return false;
    if (stuckInPlace(one)) return true;
    const blamed = one.phase === 'Failed' || (one.unschedulable === null && !slow(one, policy));
    return crashes(one) || (down(snapshot, one) && blamed);
  });
}

/** Every pod that the StatefulSet is to have is there. */
const noneToMake: Need = ({ cluster, statefulSet, members }) => {
  const ordinals = Array.from({ length: cluster.replicas }, (_, ordinal) => ordinal);
  return ordinals
    .filter((ordinal) => ordinal < (statefulSet?.replicas ?? 0))
    .every((ordinal) => members.some((one) => one.ordinal === ordinal));
};

/** The kubelet has still to resize it, or it has just done so. */
const isResizing = (policy: RolloutPolicy, { inPlace, participatingForSeconds }: MemberFacts): boolean => {
  const resize = inPlace?.kind === 'possible' ? inPlace.resize : null;
  if (resize === null) return false;
  return resize.awaited.length > 0
    ? resize.forSeconds < 300
    : Math.min(resize.forSeconds, participatingForSeconds ?? 0) < policy.minReadySeconds;
};
/** Members are resized one after another, and no working member goes meanwhile. */
const nobodyResizes: Need = (snapshot, policy) =>
  policy.inPlaceUpdates.mode === 'Never' ||
  off(policy, 'AwaitingResize') ||
  snapshot.members.every(
    (one) =>
      one.revision === snapshot.statefulSet?.updateRevision ||
      one.terminatingForSeconds !== null ||
      kept(policy, one) ||
      !isResizing(policy, one),
  );

/** The pod that runs can be changed, and it works and is done with earlier changes. */
const changeable: Need = (snapshot, policy, going) =>
  policy.inPlaceUpdates.mode !== 'Never' &&
  going.every(
    (one) =>
      one.inPlace?.kind === 'possible' &&
      (one.inPlace.resize?.awaited ?? []).length === 0 &&
      participates(snapshot, one) &&
      !impaired(one) &&
      hasItsRole(snapshot, policy, one) &&
      (one.restartInPlace?.awaited ?? []).length === 0,
  );
/** The containers that the next write restarts. */
const restarting = ({ inPlace }: MemberFacts): readonly string[] => {
  if (inPlace?.kind !== 'possible') return [];
  const { resources, containers } = inPlace.change;
  return (resources.length > 0 ? resources.filter(({ restarts }) => restarts) : containers).map(({ name }) => name);
};
/** The primary goes last, with consent, and only its containers that restart need a switchover before. A label needs nothing. */
const primaryInPlace: Need = (snapshot, policy, going) => {
  const { members, statefulSet, cluster } = snapshot;
  const [primary] = going.filter(({ ordinal }) => ordinal === cluster.primaryIndex);
  if (primary === undefined) return true;
  const restarts = restarting(primary).length > 0;
  const isLabelAlone =
    !restarts && primary.inPlace?.kind === 'possible' && primary.inPlace.change.resources.length === 0;
  const mayStay = !restarts || policy.inPlaceUpdates.primary === 'InPlace';
  const isLast = members.every(
    (one) =>
      one === primary ||
      one.revision === statefulSet?.updateRevision ||
      one.terminatingForSeconds !== null ||
      kept(policy, one),
  );
  const consent = approval(snapshot, policy, going) && nonePinnedBehind(snapshot, policy, going);
  return isLabelAlone || (isLast && consent && (mayStay || cluster.replicas === 1));
};

const during = (all: readonly Interval[], second: number): boolean =>
  all.some(({ from, until }) => from.inSeconds <= second && second < until.inSeconds);

/** The whole of it fits into one window for restarts that is open. */
const inRestartWindow: Need = ({ maintenance, cluster, members }, policy, going) => {
  if (maintenance === null) return false;
  const primary = members.find(({ ordinal }) => ordinal === cluster.primaryIndex);
  const movesRole = cluster.replicas > 1 && primary !== undefined && going.includes(primary);
  const seconds = maintenance.memberSeconds + (movesRole ? policy.switchoverTimeoutSeconds : 0);
  return (maintenance.restartWindows ?? []).some(
    ({ from, until }) => from.inSeconds <= 0 && until.inSeconds >= seconds,
  );
};

/** With `Only`, no working member is replaced without consent. */
const mayBeReplaced: Need = (snapshot, policy, going) =>
  policy.inPlaceUpdates.mode !== 'Only' ||
  inRestartWindow(snapshot, policy, going) ||
  approved(policy, snapshot) ||
  off(policy, 'RestartNeeded') ||
  changeable(snapshot, policy, going);
const mustBeReplaced: Need = (snapshot, policy, going) => !changeable(snapshot, policy, going);

const when =
  (applies: Need, need: Need): Need =>
  (snapshot, policy, going) =>
    !applies(snapshot, policy, going) || need(snapshot, policy, going);

const leading: Need = ({ cluster }, _policy, going) => going.some(({ ordinal }) => ordinal === cluster.primaryIndex);
const unreachable: Need = (_snapshot, _policy, going) => going.some(lost);
const serves: Need = (snapshot, _policy, going) => going.some((one) => participates(snapshot, one));
const well: Need = (snapshot, _policy, going) => going.some((one) => participates(snapshot, one) && !impaired(one));
const isImpaired: Need = (snapshot, _policy, going) =>
  going.every((one) => participates(snapshot, one) && impaired(one));

/** A failover begins by stopping the I/O threads of all replicas, so that one that serves shows that none is under way. */
const somebodyLeads: Need = (snapshot, policy, going) => {
  if (off(policy, 'FailoverUnfinished')) return true;
  const primary = primaryOf(snapshot);
  const { mocoState } = snapshot.cluster;
  if (primary === undefined || mocoState === 'Failed' || mocoState === 'Lost') return false;
  if (participates(snapshot, primary)) return true;
  const gone = primary.terminatingForSeconds !== null || down(snapshot, primary);
  return !gone && serving(snapshot).some((one) => !going.includes(one));
};
/** The primary goes for its own sake when a failover could follow, or when nobody serves anyway. */
const failoverHadItsTime: Need = (snapshot, policy, going) => {
  if (serving(snapshot).some((one) => one === primaryOf(snapshot))) {
    return going.every((one) => !justCeased(snapshot, one));
  }
  if (!graceOver(snapshot, policy, going) || serves(snapshot, policy, going)) return false;
  return (
    !leading(snapshot, policy, going) ||
    majorityServes(snapshot, policy, going) ||
    nobodyServes(snapshot, policy, going)
  );
};
/**
 * MOCO gives no member a role while it cannot configure one of them, so the repair of that member does not wait for
 * roles.
 */
const rolesRestBut: Need = (snapshot, policy, going) =>
  rolesRest(snapshot, policy, going) ||
  (!serves(snapshot, policy, going) && rolesRest(withRoles(snapshot, policy), policy, going));
const settledBut: Need = (snapshot, policy, going) => {
  if (nobodyServes(snapshot, policy, going)) return true;
  if (serves(snapshot, policy, going)) return nobodyUnsettled(snapshot, policy, going);
  // Once nothing has moved for long, whoever serves without its role is waited for in no way.
  const isLate = snapshot.memory.sinceProgressSeconds >= policy.progressDeadlineSeconds;
  const waitsForRole = (one: MemberFacts): boolean => participates(snapshot, one) && !hasItsRole(snapshot, policy, one);
  const members = isLate ? snapshot.members.filter((one) => !waitsForRole(one)) : snapshot.members;
  return nobodyUnsettled(withRoles({ ...snapshot, members }, policy), policy, going);
};
const running = (snapshot: ClusterSnapshot, one: MemberFacts): boolean =>
  one.terminatingForSeconds === null && !lost(one) && !participates(snapshot, one) && !down(snapshot, one);
/** Beside a primary that has its own role, replicas without one that have served for long count as labelled, and those that have run for long do not count. */
function withRoles(snapshot: ClusterSnapshot, policy: RolloutPolicy): ClusterSnapshot {
  const primary = primaryOf(snapshot);
  if (snapshot.memory.sinceProgressSeconds >= policy.progressDeadlineSeconds) {
    const roleOf = ({ ordinal }: MemberFacts) => (ordinal === snapshot.cluster.primaryIndex ? 'primary' : 'replica');
    const present = snapshot.members.filter((one) => !running(snapshot, one) || crashes(one));
    // A primary that counts as labelled counts as settled too: MOCO opens it to writes only after the label.
    const primarySettledForSeconds = snapshot.cluster.primarySettledForSeconds ?? Number.MAX_SAFE_INTEGER;
    return {
      ...snapshot,
      cluster: { ...snapshot.cluster, primarySettledForSeconds },
      members: present.map((one) => (participates(snapshot, one) ? { ...one, role: roleOf(one) } : one)),
    };
  }
  if (primary === undefined || !participates(snapshot, primary) || !hasItsRole(snapshot, policy, primary))
    return snapshot;
  const waits = (one: MemberFacts): boolean =>
    one !== primary &&
    one.role === null &&
    running(snapshot, one) &&
    !crashes(one) &&
    behindSince(one) >= policy.failoverGraceSeconds;
  const counting = snapshot.members.filter((one) => !waits(one));
  const members = counting.map((one) =>
    one !== primary && one.role === null && (one.participatingForSeconds ?? Number.NaN) >= policy.failoverGraceSeconds
      ? { ...one, role: 'replica' as const }
      : one,
  );
  return { ...snapshot, members };
}
const notRecovering: Need = (_snapshot, policy, going) => going.every((one) => !recovers(policy, one));
const allBroken: Need = (snapshot, _policy, going) => going.every((one) => down(snapshot, one));
const appliedUnlessDown: Need = (snapshot, policy, going) =>
  allBroken(snapshot, policy, going) || applied(snapshot, policy, going);
const standsUnlessDown: Need = (snapshot, policy, going) =>
  allBroken(snapshot, policy, going) && policy.mode === 'OnDelete'
    ? revisionStandsOrQuorumLost(snapshot, policy, going)
    : revisionStands(snapshot, policy, going);
/** All others are available where the primary moves; where an impaired one goes they serve at least. */
const roomForOne: Need = (snapshot, policy, going) => {
  if (isImpaired(snapshot, policy, going) && !leading(snapshot, policy, going))
    return everyOther(snapshot, policy, going);
  const away = snapshot.cluster.replicas - serving(snapshot).filter((one) => !unsettled(snapshot, policy, one)).length;
  if (leading(snapshot, policy, going)) return going.every((one) => participates(snapshot, one)) && away === 0;
  return somebodyMayGo(snapshot, policy, going);
};

/**
 * Nothing but the running pod has the data of a claim that is about to go. A claim that was not read may be about to
 * go, too.
 */
const keepsItsData: Need = (_snapshot, policy, going) =>
  off(policy, 'ClaimTerminating') ||
  going.every((one) => {
    const claims = one.recreatable.kind === 'asked' ? one.recreatable.claims : [];
    return claims.every(({ state }) => state !== 'terminating' && state !== 'unread' && one.unschedulable !== null);
  });
/** Who has lost its data, or never had them all, comes up at a version to which the primary can give them. */
const findsADonor: Need = (snapshot, policy, going) => {
  const primary = primaryOf(snapshot);
  if (off(policy, 'CloneImpossible') || primary === undefined || !isNoDonor(snapshot, primary)) return true;
  const stale = going.filter((one) => one !== primary && one.revision !== snapshot.statefulSet?.updateRevision);
  return !stale.some(
    (one) => (one.recreatable.kind === 'asked' && one.recreatable.claims.length > 0) || isCopying(snapshot, one),
  );
};
/** Its agent has said so last, and nothing in its pod contradicts it. */
const isCopying = (snapshot: ClusterSnapshot, one: MemberFacts): boolean =>
  ['cloning', 'unfinished'].includes(one.clone?.reading.kind ?? '') &&
  running(snapshot, one) &&
  !crashes(one) &&
  one.containers.some(({ part, state }) => part === 'mysqld' && state === 'running');
const hasANode: Need = (_snapshot, policy, going) =>
  off(policy, 'NodeTakesNoPods') ||
  going.every(({ recreatable }) => recreatable.kind === 'notAsked' || recreatable.tied === null);
/** It is known where their next pods may run, or that does not matter. */
const isPlaced: Need = (_snapshot, policy, going) =>
  off(policy, 'PlacementUnknown') ||
  going.every(({ recreatable }) => recreatable.kind === 'notAsked' || recreatable.unjudged === null);
const isAdmitted: Need = (_snapshot, policy, going) =>
  off(policy, 'SuccessorRefused') ||
  going.every(({ recreatable }) => recreatable.kind === 'notAsked' || recreatable.refusal === null);
const recentlyRead: Need = (_snapshot, _policy, going) =>
  going.every(({ recreatable }) => recreatable.kind === 'asked' && recreatable.ageSeconds < 60);

interface Word {
  readonly lacks: boolean;
  readonly backlog: boolean;
  readonly silent: boolean;
}
const toldBy = ({ mysql }: ClusterSnapshot, uid: string | undefined) => mysql?.members.find((one) => one.uid === uid);
const leaderOf = ({ members, cluster }: ClusterSnapshot): string | undefined =>
  members.find(({ ordinal }) => ordinal === cluster.primaryIndex)?.uid;

/**
 * What speaks against a replica by its newest answer, and whether it, or the primary, has been silent for less than what
 * that is worth.
 */
const wordOf = (
  snapshot: ClusterSnapshot,
  { replicaDelayGraceSeconds, silentMemberGraceSeconds }: RolloutPolicy,
  one: MemberFacts,
): Word => {
  const grace = Math.max(replicaDelayGraceSeconds, silentMemberGraceSeconds);
  const { mysql } = snapshot;
  if (mysql === null || mysql.problem !== null) return { lacks: false, backlog: false, silent: false };
  const recent = mysql.ageSeconds !== null && mysql.ageSeconds < 5;
  const answer = recent ? toldBy(snapshot, one.uid) : undefined;
  if (answer === undefined || answer.said.kind === 'primary') return { lacks: false, backlog: false, silent: true };
  const leader = toldBy(snapshot, leaderOf(snapshot));
  const awaited = leader?.last?.kind === 'primary' && leader.last.needed > 0;
  const { last, said } = answer;
  const known = last?.kind === 'replica' ? last : null;
  const isDeaf = known !== null && (!known.receiver.runs || known.receiver.error !== 0 || (awaited && !known.semiSync));
  const mute = said.kind === 'unknown' ? answer.unknownForSeconds : (leader?.unknownForSeconds ?? 0);
  return {
    lacks: isDeaf || (known?.missing ?? 0) > 0,
    backlog: (known?.unapplied ?? 0) > 0,
    silent: (said.kind === 'unknown' || said.missing === null) && mute < grace,
  };
};
/** Somebody renews MOCO's Lease, as far as that may be read. */
const mocoWorks: Need = ({ moco }, policy) => {
  if (off(policy, 'MocoUnavailable') && moco.ageSeconds !== null && moco.ageSeconds < 10) return true;
  if (moco.ageSeconds === null) return false;
  if (moco.state === 'forbidden') return true;
  const renewed = moco.renewedForSeconds !== null && moco.renewedForSeconds < moco.durationSeconds + 15;
  return moco.ageSeconds < 10 && moco.state === 'held' && renewed;
};
/** Whoever stays has just said that it serves, or has not answered for longer than a dead node looks alive. */
const othersAnswer: Need = (snapshot, policy, going) => {
  const { primaryIndex, replicatesFromElsewhere } = snapshot.cluster;
  const isWanted = (one: MemberFacts): boolean =>
    participates(snapshot, one) || (one.ordinal !== primaryIndex && (lost(one) || running(snapshot, one)));
  if (off(policy, 'MemberSilent') || !going.some(isWanted)) return true;
  return serving(snapshot)
    .filter((one) => !going.includes(one))
    .every((one) => {
      const said = snapshot.memberAnswers.find(({ uid }) => uid === one.uid);
      if (said === undefined || !(said.ageSeconds < 5)) return false;
      if (said.reading.kind === 'unknown') return said.unknownForSeconds >= policy.silentMemberGraceSeconds;
      return said.reading.kind === 'ready' || (replicatesFromElsewhere && one.ordinal === primaryIndex);
    });
};
/** Whoever stays has received what the primary had committed; a few may lack it, as a few may be away. */
const othersReceived: Need = (snapshot, policy, going) => {
  if (off(policy, 'ReplicasBehind') || !serves(snapshot, policy, going)) return true;
  const lacks = (one: MemberFacts): boolean => {
    const word = wordOf(snapshot, policy, one);
    return word.lacks || word.silent;
  };
  const { replicas, primaryIndex } = snapshot.cluster;
  const stay = snapshot.members.filter((one) => !going.includes(one));
  const lacking = stay.filter((one) => participates(snapshot, one) && one.ordinal !== primaryIndex && lacks(one));
  const good = stay.filter(
    (one) => participates(snapshot, one) && !unsettled(snapshot, policy, one) && !lacking.includes(one),
  );
  return lacking.length === 0 || replicas - going.length - good.length < room(snapshot, policy);
};
const othersApplied: Need = (snapshot, policy, going) =>
  off(policy, 'ReplicasBehind') ||
  serving(snapshot)
    .filter((one) => one.ordinal !== snapshot.cluster.primaryIndex && !going.includes(one))
    .every((one) => {
      const { lacks, backlog, silent } = wordOf(snapshot, policy, one);
      return !lacks && !backlog && !silent;
    });
/** By the primary's own count, commits get their acknowledgements without a replica that gives one. */
const othersAcknowledge: Need = (snapshot, policy, going) => {
  if (off(policy, 'ReplicasBehind') || snapshot.mysql?.problem !== null) return true;
  const leader = toldBy(snapshot, leaderOf(snapshot))?.last;
  if (leader?.kind !== 'primary' || leader.needed === 0) return true;
  const given = going.filter((one) => {
    const last = toldBy(snapshot, one.uid)?.last;
    return (
      participates(snapshot, one) &&
      one.ordinal !== snapshot.cluster.primaryIndex &&
      (last?.kind !== 'replica' || last.semiSync)
    );
  });
  return given.length === 0 || leader.acknowledging - 1 >= leader.needed;
};
/** Nothing that has lasted for a second is cut off before its time is over. */
const noLongWrite: Need = ({ mysql, members, cluster: { primaryIndex } }, policy) => {
  if (off(policy, 'LongWrite') || mysql === null || mysql.problem !== null) return true;
  const { ageSeconds, writes, waitedForWritesSeconds: waited } = mysql;
  if (policy.longWritePolicy === 'Proceed' && waited >= policy.longWriteGraceSeconds) return true;
  if (writes?.some((one) => one.ageSeconds >= 1)) return false;
  const primary = members.find(({ ordinal }) => ordinal === primaryIndex);
  const answer = mysql.members.find(({ uid }) => uid === primary?.uid);
  if (answer?.said.kind === 'unknown' && answer.unknownForSeconds >= policy.replicaDelayGraceSeconds) return true;
  return ageSeconds !== null && ageSeconds < 5 && writes?.every((one) => one.ageSeconds < 1) === true;
};

/** Who may come back by itself is not taken where its own node is known not to run the revision. */
const runsOnItsNode: Need = (snapshot, policy, going) =>
  (snapshot.preflight?.refusals ?? []).every(
    ({ result, members }) =>
      off(policy, result) || !going.some((one) => members.includes(one.ordinal) && !down(snapshot, one)),
  );
/** A node that is known not to run it, and one that may still find out, are reasons to wait while all is well. */
const runsEverywhere: Need = ({ preflight }, policy) =>
  (preflight?.refusals ?? []).every(({ result }) => off(policy, result)) &&
  (off(policy, 'PreflightRunning') ||
    (preflight?.awaited ?? []).every(({ forSeconds }) => forSeconds >= policy.preflightTimeoutSeconds));

/** No mysqld comes up on data that it refuses, and who works is not taken while that is known of another one. */
const opensData: Need = (snapshot, policy, going) => {
  if (off(policy, 'VersionRefused')) return true;
  const stale = snapshot.members.filter(
    (one) =>
      one.revision !== snapshot.statefulSet?.updateRevision && one.terminatingForSeconds === null && !kept(policy, one),
  );
  const asked = serves(snapshot, policy, going) ? [...going, ...stale] : going;
  return !asked.some((one) => refusesData(snapshot, one));
};
/**
 * A mysqld that has ended without closing its redo log starts again at its previous revision. If that is unknown, one
 * of them tries.
 */
const readsLog: Need = (snapshot, policy, going) => {
  if (off(policy, 'RedoLogOpen')) return true;
  const ended = going.filter((one) => down(snapshot, one) || lost(one) || crashes(one));
  const broken = ended.filter((one) => !participates(snapshot, one)).map((one) => redoLogLeft(snapshot, one));
  return !broken.includes('other') && broken.filter((left) => left === 'maybe').length < 2;
};
/** A cluster that replicates from this one gets the newer series first. */
const replicasNotOlder: Need = (snapshot, policy, going) =>
  off(policy, 'ReplicaClusterOlder') || !serves(snapshot, policy, going) || !hasOlderReplicaCluster(snapshot);

/** A copy of hours begins anew: the agent of a replica that runs and is not ready has just said that it makes none. */
const copiesNothing: Need = (snapshot, policy, going) =>
  going.every((one) => {
    const isReplica = one.ordinal !== snapshot.cluster.primaryIndex;
    if (!isReplica || !running(snapshot, one) || crashes(one)) return true;
    const mysqldRuns = one.containers.some(({ part, state }) => part === 'mysqld' && state === 'running');
    if (!mysqldRuns) return true;
    const told = one.clone;
    const isLate = behindSince(one) >= policy.progressDeadlineSeconds;
    if (told?.reading.kind === 'cloning') return off(policy, 'Cloning');
    if (told?.reading.kind === 'unfinished') return off(policy, 'Cloning') || isLate;
    if (off(policy, 'CloneUnknown')) return true;
    if (told === null || told.ageSeconds >= 5) return false;
    return told.reading.kind === 'notCloning' || isLate;
  });

/**
 * With the setting, a member whose node is not emptied is not updated while other nodes are emptied, nor for ten minutes
 * after that.
 */
const leavesOrMaintenanceOver: Need = ({ nodesLeaving }, policy, going) =>
  off(policy, 'AwaitingNodeMaintenance') ||
  policy.rolloutsDuringMaintenance === 'Proceed' ||
  nodesLeaving === null ||
  going.every(({ leaving }) => leaving !== null) ||
  (nodesLeaving.names.length === 0 && nodesLeaving.overForSeconds >= 600);
/** MOCO takes the first of those that serve. It would be moved off its node at once. */
const heirStays: Need = (snapshot, policy, going) =>
  policy.nodeMaintenance === 'Ignore' || serving(snapshot).find((one) => !going.includes(one))?.leaving === null;

type Needs = Readonly<Record<string, Need>>;

/** By what happens, what has to be true of the cluster. Each is said in other words than the rules'. */
const needs: Readonly<Partial<Record<EffectKind, Needs>>> = {
  brings: { appliedUnlessDown, standsUnlessDown, notKept, comesUpUpdated, opensData, readsLog, replicasNotOlder },
  removes: { unprotected, noneToMake },
  freesClaims: { recentlyRead, keepsItsData, findsADonor },
  mustReturn: { hasANode, isPlaced, isAdmitted },
  changesInPlace: { nobodyResizes, changeable },
  risks: {
    slot,
    inTimeInPlace,
    passed,
    settledBut,
    leavesOrMaintenanceOver,
    approval: when(leading, approval),
    nonePinnedBehind: when(leading, nonePinnedBehind),
  },
  stops: {
    slot,
    rolesRestBut,
    failoverHadItsTime,
    settledBut,
    noBackup,
    notRecovering,
    nobodyLeaves: when((...all) => !well(...all), nobodyLeaves),
    replicasOnly: when(unreachable, (snapshot, policy, going) => !leading(snapshot, policy, going)),
    everyOther: when(unreachable, everyOther),
    othersReceived: when((...all) => !leading(...all), othersReceived),
    othersAcknowledge,
    mocoWorks,
    othersAnswer,
    copiesNothing,
  },
  reduces: { slot, rolesRest, failoverHadItsTime, roomForOne, nobodyResizes, runsEverywhere },
  takesHealthy: { noForeignDemote, healthy, budgetAllows },
  leavesService: { noBackup },
  movesPrimary: {
    approval,
    nonePinnedBehind,
    noForeignDemote,
    unprotected,
    notTooManyTries,
    inTime,
    othersCaughtUp,
    othersApplied,
    noLongWrite,
    mocoWorks,
    othersAnswer,
    roomForOne,
  },
  losesRelayLog: { somebodyLeads },
};

/** What a step needs by what happens with it, and has not got. */
export function unmetNeeds(snapshot: ClusterSnapshot, policy: RolloutPolicy, step: Step): readonly string[] {
  const happening = happenings(snapshot, step);
  const ofEffects = [...new Set(happening.map(({ kind }) => kind))].flatMap((kind) => {
    const going = happening.filter((one) => one.kind === kind).map(({ member }) => member);
    return unmet(needs[kind] ?? {}, snapshot, policy, going).map((need) => `${kind} needs ${need}`);
  });
  const going = [...new Set(happening.map(({ member }) => member))];
  const ofStep = unmet(needsOfStep[step.kind] ?? {}, snapshot, policy, going).map(
    (need) => `${step.kind} needs ${need}`,
  );
  if (!leavesNode(step)) return [...ofEffects, ...ofStep];
  const isForUpdates = (one: string): boolean =>
    ofUpdates.some((name) => one.endsWith(` needs ${name}`)) || one === 'demote needs revisionStands';
  return [...ofEffects, ...ofStep].filter((one) => !isForUpdates(one));
}

/**
 * A stale member that waits for its node, or whose pod has only begun to start, may start at its own revision as long
 * as the update has to wait. The update is not urgent only because the member does not work.
 */
const staysWhileHeld: Need = (snapshot, policy, going) => {
  const awaited = going.filter((one) => {
    const { ordinal, revision } = one;
    const tried = [null, revision].includes(dataRevision(snapshot, ordinal));
    return (
      revision !== snapshot.statefulSet?.updateRevision && down(snapshot, one) && awaitsItsStart(one, policy, tried)
    );
  });
  if (policy.mode !== 'OnDelete' || awaited.length === 0) return true;
  const switchoverSeconds = snapshot.cluster.replicas > 1 ? policy.switchoverTimeoutSeconds : 0;
  const mayLead = approval(snapshot, policy, awaited) && nonePinnedBehind(snapshot, policy, awaited);
  return (
    slot(snapshot, policy, awaited) &&
    isOpen(snapshot, policy, awaited, switchoverSeconds) &&
    allPassed(snapshot, policy, awaited) &&
    (!leading(snapshot, policy, awaited) || mayLead) &&
    (snapshot.preflight?.refusals ?? []).every(({ result }) => off(policy, result))
  );
};

const replaced: Need = (snapshot, _policy, going) =>
  going.every((one) => down(snapshot, one)) ||
  snapshot.members.every(
    ({ ordinal, revision }) =>
      going.some((one) => one.ordinal >= ordinal) || revision === snapshot.statefulSet?.updateRevision,
  );

/** Little depends on the kind of the step alone. */
const needsOfStep: Readonly<Partial<Record<Step['kind'], Needs>>> = {
  delete: { runsOnItsNode, staysWhileHeld },
  evict: { observed, mayBeReplaced, mustBeReplaced, runsOnItsNode },
  demote: {
    heirStays,
    leavesOrMaintenanceOver,
    mayBeReplaced,
    nobodyResizes,
    settledBut,
    passed,
    inTime,
    slot,
    healthy,
    budgetAllows,
    revisionStands,
    applied,
  },
  setPartition: { replaced, runsOnItsNode },
  updateInPlace: { primaryInPlace },
  resizeInPlace: { primaryInPlace },
};

/** A member that leaves its node gets nothing new: neither the fleet nor windows nor checks nor the revision speak. */
const ofUpdates: readonly string[] = Object.keys({
  notKept,
  slot,
  inTime,
  inTimeInPlace,
  passed,
  leavesOrMaintenanceOver,
  mustBeReplaced,
});

/** Every need, as {@link unmetNeeds} names it. */
export const everyNeed: readonly string[] = Object.entries({ ...needs, ...needsOfStep }).flatMap(([kind, list]) =>
  Object.keys(list).map((name) => `${kind} needs ${name}`),
);

const unmet = (
  list: Needs,
  snapshot: ClusterSnapshot,
  policy: RolloutPolicy,
  going: readonly MemberFacts[],
): readonly string[] =>
  Object.entries(list)
    .filter(([, need]) => !need(snapshot, policy, going))
    .map(([name]) => name);
