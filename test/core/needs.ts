import type { Step } from '../../src/core/decision.ts';
import type { RolloutPolicy } from '../../src/core/policy.ts';
import type { StepRule } from '../../src/core/rules/steps.ts';
import type { ClusterSnapshot, Interval, MemberFacts } from '../../src/core/snapshot.ts';
import {
  crashes,
  down,
  hasItsRole,
  impaired,
  lost,
  participates,
  restartsInPlace,
  rolesMove,
  slow,
  stuckInPlace,
  unsettled,
} from './judged-members.ts';
import { approved, kept, off, room } from './judged-settings.ts';

type Taking = Extract<Step, { rule: StepRule }>;

/** What a step can need of the whole cluster; true when it is met. */
type Need = (snapshot: ClusterSnapshot, policy: RolloutPolicy, going: readonly MemberFacts[]) => boolean;

const serving = (snapshot: ClusterSnapshot): readonly MemberFacts[] =>
  snapshot.members.filter((one) => participates(snapshot, one));
const primaryOf = ({ cluster, members }: ClusterSnapshot): MemberFacts | undefined =>
  members.find(({ ordinal }) => ordinal === cluster.primaryIndex);
const allAre =
  (is: (snapshot: ClusterSnapshot, member: MemberFacts) => boolean): Need =>
  (snapshot, _policy, going) =>
    going.every((one) => is(snapshot, one));

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
const primaryServesOrGraceOver: Need = (snapshot, policy, going) =>
  serving(snapshot).some((one) => one === primaryOf(snapshot)) || graceOver(snapshot, policy, going);
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
const noBackup: Need = ({ backupJobActive, budgets }, policy) =>
  off(policy, 'BackupRunning') || (!backupJobActive && !budgets.some(({ closed }) => closed));
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
/** Tried second by second, unless the step repairs. */
const inTime: Need = (snapshot, policy, going) =>
  fits(snapshot, policy, going, snapshot.cluster.replicas > 1 ? policy.switchoverTimeoutSeconds : 0);
const inTimeInPlace: Need = (snapshot, policy, going) => fits(snapshot, policy, going, 0);

function fits(
  snapshot: ClusterSnapshot,
  policy: RolloutPolicy,
  going: readonly MemberFacts[],
  switchoverSeconds: number,
): boolean {
  const { maintenance } = snapshot;
  const primary = primaryOf(snapshot);
  if (maintenance === null || !primary || repairs(snapshot, going)) return true;
  const switchover = going.includes(primary) ? switchoverSeconds : 0;
  for (let second = 0; second < maintenance.memberSeconds + switchover; second++) {
    const open = maintenance.windows === null || during(maintenance.windows, second);
    if (!open && !off(policy, 'OutsideMaintenanceWindow')) return false;
    if (during(maintenance.blackouts, second) && !off(policy, 'Blackout')) return false;
  }
  return true;
}
/** Every check has passed within five seconds, or may not matter; what can't be answered counts for half a minute. */
const passed: Need = (snapshot, policy, going) => {
  const { checks } = snapshot;
  const [mayFail, mayBeSilent] = [off(policy, 'CheckFailing'), off(policy, 'CheckUnavailable')];
  if ((mayFail && mayBeSilent) || repairs(snapshot, going)) return true;
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
/** Under OrderedReady management everybody above the batch is done but the primary and those that are held. */
const batchesAbove: Need = (snapshot, policy, going) => {
  const { cluster, statefulSet, members } = snapshot;
  if (statefulSet?.podManagement !== 'OrderedReady' || off(policy, 'BatchNotComplete')) return true;
  const size = room(snapshot, policy);
  const next = Math.max(...going.map(({ ordinal }) => ordinal));
  const top = cluster.replicas - size * Math.trunc((cluster.replicas - 1 - next) / size);
  return members
    .filter(
      ({ ordinal }) => ordinal >= top && ordinal !== cluster.primaryIndex && !policy.pinnedOrdinals.includes(ordinal),
    )
    .every((one) => one.revision === statefulSet.updateRevision && !unsettled(snapshot, policy, one));
};
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
const switchesOver: Need = (snapshot, policy, going) =>
  going.every((one) => one.ordinal !== snapshot.cluster.primaryIndex) || othersCaughtUp(snapshot, policy, going);
const unprotected: Need = (_snapshot, _policy, going) => going.every(({ preventDelete }) => !preventDelete);
const oneOnly: Need = (_snapshot, _policy, going) => going.length === 1;
const primaryOnly: Need = allAre(({ cluster }, { ordinal }) => ordinal === cluster.primaryIndex);
const replicaOnly: Need = allAre(({ cluster }, { ordinal }) => ordinal !== cluster.primaryIndex);
const running: Need = allAre(
  (snapshot, one) =>
    !participates(snapshot, one) && !down(snapshot, one) && !lost(one) && one.terminatingForSeconds === null,
);
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

/** An updated member is down or crash-loops for a reason that its revision can have, and none has ever served. */
function revisionFails(snapshot: ClusterSnapshot, policy: RolloutPolicy): boolean {
  const { memory, members, statefulSet } = snapshot;
  const updated = members.filter(({ revision }) => revision === statefulSet?.updateRevision);
  if (off(policy, 'UpdateRevisionFailing')) return false;
  const served = updated.filter(
    ({ participatingForSeconds, revisionForSeconds, restartInPlace: restart }) =>
      (participatingForSeconds ?? 0) >= policy.minReadySeconds &&
      revisionForSeconds >= policy.minReadySeconds &&
      (restart === null || (restart.awaited.length === 0 && restart.doneForSeconds >= policy.minReadySeconds)),
  );
  if (memory.verified || served.some((one) => participates(snapshot, one))) return false;
  return updated.some((one) => {
    if (one.terminatingForSeconds !== null || lost(one) || memory.takenDown.includes(one.ordinal)) return false;
    if (participates(snapshot, one) && !restartsInPlace(snapshot, policy, one)) return false;
    if (stuckInPlace(one)) return true;
    const blamed = one.phase === 'Failed' || (one.unschedulable === null && !slow(one, policy));
    return crashes(one) || (down(snapshot, one) && blamed);
  });
}

/** Every pod that the StatefulSet is to have is there; with OrderedReady management one may wait for another. */
const noneToMake: Need = ({ cluster, statefulSet, members, createFailure }) => {
  if (statefulSet?.podManagement === 'OrderedReady' && createFailure === null) return true;
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
/** One member after another is resized, and nobody who works goes meanwhile. */
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

const standing = { applied, revisionStands, notKept, unprotected, inTime, passed };
const calm = { ...standing, slot, oneOnly, rolesRest, nobodyUnsettled, noBackup };
const alone = { ...calm, nobodyLeaves };
const healthyOnes = { ...calm, nobodyResizes, somebodyMayGo, noForeignDemote, healthy, budgetAllows };

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
const resizesFirst = allAre(
  (_snapshot, { inPlace }) => inPlace?.kind === 'possible' && inPlace.change.resources.length > 0,
);
const resized = allAre(
  (_snapshot, { inPlace }) => inPlace?.kind === 'possible' && inPlace.change.resources.length === 0,
);
/** The containers that the next write restarts. */
const restarting = ({ inPlace }: MemberFacts): readonly string[] => {
  if (inPlace?.kind !== 'possible') return [];
  const { resources, containers } = inPlace.change;
  return (resources.length > 0 ? resources.filter(({ restarts }) => restarts) : containers).map(({ name }) => name);
};
/** The primary goes last, with consent, and where nobody asks for a switchover before. */
const primaryInPlace: Need = (snapshot, policy, going) => {
  const { members, statefulSet, cluster } = snapshot;
  const [primary] = going.filter(({ ordinal }) => ordinal === cluster.primaryIndex);
  if (primary === undefined) return batchesAbove(snapshot, policy, going);
  const answersProbes = primary.containers.some(
    ({ part, name }) => part === 'agent' && restarting(primary).includes(name),
  );
  const mayStay = (policy.inPlaceUpdates.primary ?? (answersProbes ? 'AfterSwitchover' : 'InPlace')) === 'InPlace';
  const isLast = members.every(
    (one) =>
      one === primary ||
      one.revision === statefulSet?.updateRevision ||
      one.terminatingForSeconds !== null ||
      kept(policy, one),
  );
  const consent = approval(snapshot, policy, going) && nonePinnedBehind(snapshot, policy, going);
  return isLast && consent && (mayStay || cluster.replicas === 1);
};
const nobodyAway: Need = (snapshot, policy) =>
  serving(snapshot).filter((one) => !unsettled(snapshot, policy, one)).length === snapshot.cluster.replicas;
const { inTime: _inTime, ...healthyAtAnyTime } = healthyOnes;

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

/** With `Only` nobody who works is replaced without consent. */
const mayBeReplaced: Need = (snapshot, policy, going) =>
  policy.inPlaceUpdates.mode !== 'Only' ||
  inRestartWindow(snapshot, policy, going) ||
  approved(policy, snapshot) ||
  off(policy, 'RestartNeeded') ||
  changeable(snapshot, policy, going);
const mustBeReplaced: Need = (snapshot, policy, going) => !changeable(snapshot, policy, going);

type Needs = Readonly<Record<string, Need>>;

/** For every rule what it needs before it may take anybody; the compiler demands a line for each. */
const needs: Readonly<Record<StepRule, Needs>> = {
  MemberDown: { down: allAre(down), revisionStandsOrQuorumLost, notKept, unprotected, noneToMake },
  MemberUnreachable: {
    ...standing,
    slot,
    oneOnly,
    replicaOnly,
    everyOther,
    lost: allAre((_snapshot, one) => lost(one)),
  },
  MemberNotParticipating: { ...alone, replicaOnly, primaryServesOrGraceOver, running },
  PrimaryNotParticipating: { ...standing, slot, oneOnly, primaryOnly, graceOver, majorityServes, running },
  NoMemberParticipating: {
    ...standing,
    slot,
    nobodyServes,
    graceOver,
    reachable: allAre((_snapshot, one) => !lost(one)),
  },
  MemberImpaired: { ...alone, nobodyResizes, everyOther, impaired: allAre((_snapshot, one) => impaired(one)) },
  ReplicaHealthy: { ...healthyOnes, observed, replicaOnly, batchesAbove, mayBeReplaced, mustBeReplaced },
  NothingRestarts: {
    applied,
    revisionStands,
    notKept,
    oneOnly,
    changeable,
    nobodyResizes,
    resized,
    nothing: allAre((_snapshot, one) => restarting(one).length === 0),
  },
  ResizeRestartsNothing: {
    applied,
    revisionStands,
    notKept,
    oneOnly,
    changeable,
    nobodyResizes,
    resizesFirst,
    nothing: allAre((_snapshot, one) => restarting(one).length === 0),
  },
  ContainersRestart: {
    ...healthyAtAnyTime,
    inTimeInPlace,
    nobodyAway,
    changeable,
    primaryInPlace,
    nobodyResizes,
    resized,
    something: allAre((_snapshot, one) => restarting(one).length > 0),
  },
  ResizeRestartsContainers: {
    ...healthyAtAnyTime,
    inTimeInPlace,
    nobodyAway,
    changeable,
    primaryInPlace,
    nobodyResizes,
    resizesFirst,
    something: allAre((_snapshot, one) => restarting(one).length > 0),
  },
  PrimaryLast: {
    ...healthyOnes,
    primaryOnly,
    notTooManyTries,
    approval,
    nonePinnedBehind,
    othersCaughtUp,
    mayBeReplaced,
  },
  SingleMember: {
    ...healthyOnes,
    primaryOnly,
    approval,
    mayBeReplaced,
    mustBeReplaced,
    single: ({ cluster }) => cluster.replicas === 1,
  },
  AlreadyUpdated: { never: () => false },
};

const replaced: Need = ({ members, statefulSet }, _policy, going) =>
  members.every(
    ({ ordinal, revision }) => going.some((one) => one.ordinal >= ordinal) || revision === statefulSet?.updateRevision,
  );
const approvalOfPrimary: Need = (snapshot, policy, going) =>
  going.every(({ ordinal }) => ordinal !== snapshot.cluster.primaryIndex) || approval(snapshot, policy, going);

const lowered = { ...alone, noForeignDemote, replaced, unprotected, approvalOfPrimary };
const withoutGates = {
  applied,
  revisionStands,
  slot,
  nobody: (_snapshot, _policy, going) => going.length === 0,
} as Needs;
const { nobodyUnsettled: _, ...loweredBroken } = lowered;

/** The same of a lower partition. */
const needsOfLowering: Readonly<Partial<Record<StepRule, Needs>>> = {
  AlreadyUpdated: withoutGates,
  ReplicaHealthy: { ...lowered, somebodyMayGo, healthy, budgetAllows, switchesOver },
  MemberImpaired: { ...loweredBroken, everyOther, switchesOver, impaired: allAre((_snapshot, one) => impaired(one)) },
  MemberNotParticipating: {
    ...loweredBroken,
    everyOther,
    unavailable: allAre((snapshot, one) => !participates(snapshot, one)),
  },
};

/** What the rule of a step needs and has not got. */
export function unmetNeeds(snapshot: ClusterSnapshot, policy: RolloutPolicy, step: Taking): readonly string[] {
  const going = snapshot.members.filter(({ ordinal }) => step.targets.some((target) => target.ordinal === ordinal));
  const list = (step.kind === 'setPartition' ? needsOfLowering : needs)[step.rule] ?? { never: () => false };
  return Object.entries(list)
    .filter(([, need]) => !need(snapshot, policy, going))
    .map(([name]) => `${step.rule} needs ${name}`);
}
