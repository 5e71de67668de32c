import type { Decision, Step } from '../../src/core/decision.ts';
import type { RolloutPolicy } from '../../src/core/policy.ts';
import type { ClusterSnapshot, MemberFacts } from '../../src/core/snapshot.ts';
import { happenings, leavesNode } from './happenings.ts';
import {
  dataRevision,
  everyOrdinal,
  keepsRevisions,
  opensAt,
  restsWhilePaused,
  setsBack,
  wouldBeRefused,
  wouldStay,
} from './judged-data.ts';
import {
  acknowledges,
  behindSince,
  down,
  endedByItsNode,
  impaired,
  participates,
  recovers,
  rolesMove,
} from './judged-members.ts';
import { off } from './judged-settings.ts';
import { unmetNeeds } from './needs.ts';

// The invariants of src/core/SPEC.md, judged from the facts alone and in other words than the rules': this file imports
// nothing that decides, so that a mistake there can't excuse itself here.

/** The pods that the StatefulSet has made: another one with the labels of a member is nobody's business. */
const belonging = ({ cluster, members }: Pick<ClusterSnapshot, 'cluster' | 'members'>): readonly MemberFacts[] =>
  members.filter(({ ofStatefulSet, ordinal }) => ofStatefulSet && ordinal < cluster.replicas);

/** A pod is Ready if each of its containers is, and a pod that runs has a mysqld of which something is known. */
function contradictsItself({ terminatingForSeconds, ready, phase, containers }: MemberFacts): boolean {
  const mysqlds = containers.filter(({ part }) => part === 'mysqld');
  const isSilent = mysqlds.some(({ state, reason }) => state === 'waiting' && reason === null);
  const isOdd = mysqlds.length === 0 || (ready && containers.some((one) => !one.ready));
  return terminatingForSeconds === null && (isOdd || (phase === 'Running' && isSilent));
}

/** Facts that no cluster can show: nothing may be done on them. */
export function impossible({ cluster, statefulSet, members }: ClusterSnapshot): boolean {
  const ordinals = members.map(({ ordinal }) => ordinal);
  const partition = statefulSet?.partition ?? 0;
  return (
    partition % 1 !== 0 ||
    partition < 0 ||
    !(Number.isInteger(cluster.replicas) && cluster.replicas > 0 && cluster.replicas <= 1000) ||
    !(Number.isInteger(cluster.primaryIndex) && cluster.primaryIndex >= 0) ||
    cluster.primaryIndex >= cluster.replicas ||
    !(cluster.syncedReplicas >= 0) ||
    belonging({ cluster, members }).some(contradictsItself) ||
    ordinals.some((ordinal) => !Number.isInteger(ordinal) || ordinal < 0) ||
    new Set(ordinals).size !== ordinals.length
  );
}

/**
 * What may be written with the gate off: what takes a demotion back, what gives a StatefulSet back, and, where this
 * program lowers partitions, those, and what starts members that are down in a cluster that serves nobody, or where the
 * current revision is the update revision.
 */
function mayBeWritten(snapshot: ClusterSnapshot, { mode, failoverGraceSeconds }: RolloutPolicy, step: Step): boolean {
  const { cluster, statefulSet, promotion, members } = snapshot;
  const givesBack = statefulSet?.labelled === true || promotion !== null;
  const nobodyWorks = members.every((one) => one.terminatingForSeconds !== null || down(snapshot, one));
  const servesNobody = mode === 'Partition' && (!cluster.initialized || nobodyWorks);
  const comesUpUpdated = mode === 'Partition' && statefulSet?.currentRevision === statefulSet?.updateRevision;
  const restartUnserved =
    mode === 'Partition' &&
    !members.some((one) => participates(snapshot, one)) &&
    (cluster.primaryUnavailableForSeconds ?? 0) >= failoverGraceSeconds;
  switch (step.kind) {
    case 'none':
    case 'undemote':
      return true;
    case 'setPartition':
      return mode === 'Partition';
    case 'release':
      return statefulSet?.labelled === true;
    case 'promoteRevision':
      return givesBack || servesNobody || restartUnserved;
    case 'delete':
      return (
        ((servesNobody || comesUpUpdated) && step.rule === 'MemberDown') ||
        (mode === 'Partition' && comesUpUpdated && step.rule === 'MemberNotParticipating') ||
        (restartUnserved && step.rule === 'PrimaryNotParticipating')
      );
    default:
      return false;
  }
}

const comesUp = ({ statefulSet }: ClusterSnapshot): boolean =>
  statefulSet?.currentRevision === statefulSet?.updateRevision;

/** Steps that change what new pods start at come without an end of the hold. */
const isOfNewPods = (step: Step): boolean =>
  step.kind === 'setStrategy' || step.kind === 'restore' || (step.kind === 'promoteRevision' && step.for === 'keep');

/** Everything wrong with a decision, by the number of the invariant; empty when it is right. */
export function violations(all: ClusterSnapshot, policy: RolloutPolicy, decision: Decision): readonly string[] {
  const snapshot = { ...all, members: belonging(all) };
  const { step, hold } = decision;
  const { members } = snapshot;
  return [
    ...(step.kind === 'delete' || step.kind === 'evict' ? ofDisruption(snapshot, policy, step) : []),
    ...(step.kind === 'updateInPlace' ? ofUpdateInPlace(snapshot, policy, step) : []),
    ...(step.kind === 'resizeInPlace' ? ofResize(snapshot, policy, step) : []),
    ...(step.kind === 'demote' ? ofDemotion(snapshot, policy, step) : []),
    ...(leavesNode(step) && 'targets' in step ? ofLeaving(snapshot, policy, step) : []),
    ...(step.kind === 'setPartition' ? ofLowering(snapshot, policy, step) : []),
    ...unmetNeeds(snapshot, policy, step),
    ...ofUndeclared(snapshot, decision),
    ...ofDemotionsLeft(snapshot, policy, step, impossible(all)),
    ...ofRequests(snapshot, policy, step),
    ...(impossible(all) && step.kind !== 'none' ? ['contradictory facts led to a step'] : []),
    ...(policy.mode !== 'OnDelete' && !mayBeWritten(snapshot, policy, step) ? ['I10: a write with the gate off'] : []),
    ...ofNewPods(snapshot, policy, step),
    ...(step.kind !== 'none' && !isOfNewPods(step) && hold !== null ? ['a hold came with a step'] : []),
    ...(step.kind === 'none' && hold === null && decision.stale > 0
      ? ['I11: no step, no hold, and stale members']
      : []),
    ...(decision.complete && members.some(({ restartInPlace }) => (restartInPlace?.awaited ?? []).length > 0)
      ? ['complete while a container has still to restart']
      : []),
    ...ofBlame(snapshot, decision),
    ...ofReports(snapshot, decision),
    ...(decision.requeueAfterSeconds !== null && !(decision.requeueAfterSeconds > 0)
      ? ['requeueAfterSeconds is not a time to come']
      : []),
  ];
}

/** Who is to blame: a backup that something shows, and a revision that a node has not ended the pod of. */
function ofBlame({ backupJobs, budgets, members, memory }: ClusterSnapshot, { hold, failing }: Decision): string[] {
  const found: string[] = [];
  const shown = backupJobs.length > 0 || budgets.some(({ closed, ofMoco }) => closed && ofMoco);
  if (hold?.rule === 'BackupRunning' && !shown) found.push('a backup that nothing shows');
  const blamed = members.filter(({ ordinal }) => ordinal === failing?.member);
  const isNew = failing?.evidence.kind !== 'earlier' && failing?.evidence.kind !== 'restored';
  if (isNew && memory.failing === null && blamed.length > 0 && blamed.every(endedByItsNode)) {
    found.push('the revision is blamed for its node');
  }
  return found;
}

/** Whose pod goes, or changes, or is about to. */
const takesMembers = (step: Step): boolean =>
  ['delete', 'evict', 'demote', 'updateInPlace', 'resizeInPlace'].includes(step.kind) ||
  (step.kind === 'setPartition' && step.targets.length > 0);

/** What a person has asked MOCO, Kubernetes or this program to leave alone, and a StatefulSet that nothing is known of. */
function ofRequests(snapshot: ClusterSnapshot, policy: RolloutPolicy, step: Step): readonly string[] {
  const { cluster, statefulSet: set, admissionProblem, releaseRefusal, settingsProblem, policyGone, memory } = snapshot;
  const adopts = step.kind === 'setStrategy' && set?.labelled !== true;
  const found: (readonly [wrong: boolean, what: string])[] = [
    [cluster.offline, 'an offline cluster is touched'],
    [cluster.forcedRollingUpdate || set?.forcedRollingUpdate === true, 'Kubernetes rolls the cluster by request'],
    [policy.mode === 'OnDelete' && snapshot.released, 'a released cluster is touched'],
    [set?.deleting === true, 'the StatefulSet is being deleted'],
    [settingsProblem !== null, 'settings are unknown'],
    [policyGone !== null && policyGone.sinceSeconds < 30, 'a policy has only just gone'],
    [cluster.reconciliationStopped, 'MOCO does not reconcile by request'],
    [cluster.clusteringStopped, 'MOCO neither switches nor fails over by request'],
  ];
  const ofMembers: typeof found = [
    [set?.observed !== true || set.updateRevision === '', 'the update revision is not known'],
    [policy.mode === 'OnDelete' && set?.labelled !== true, 'the StatefulSet is not adopted'],
    [flaps(memory, policy) && !onlyBroken(snapshot, step), 'update revisions follow each other'],
  ];
  const ofAdoption: typeof found = [
    [admissionProblem?.mode === 'OnDelete' && admissionProblem.sinceSeconds < 30, 'admission does not keep OnDelete'],
    [policy.paused && !snapshot.wasAdopted, 'a first adoption while paused'],
  ];
  const asked = [
    ...(takesMembers(step) || adopts ? found : []),
    ...(takesMembers(step) ? ofMembers : []),
    ...(adopts ? ofAdoption : []),
    [step.kind === 'release' && releaseRefusal !== null && releaseRefusal.sinceSeconds < 10, 'an unsafe release'],
  ] as typeof found;
  return asked.flatMap(([wrong, what]) => (wrong ? [`${step.kind}: ${what}`] : []));
}

/** More than three update revisions within ten minutes whose rollouts did not complete. */
const flaps = ({ recentRevisions }: ClusterSnapshot['memory'], policy: RolloutPolicy): boolean =>
  !off(policy, 'RevisionFlapping') &&
  recentRevisions.filter(({ ageSeconds, completed }) => !completed && ageSeconds < 600).length > 3;

const onlyBroken = (snapshot: ClusterSnapshot, step: Step): boolean =>
  'targets' in step &&
  step.targets.every(({ ordinal }) => snapshot.members.some((one) => one.ordinal === ordinal && down(snapshot, one)));

/** What happens with the step is what the core has declared as its effects. */
function ofUndeclared(snapshot: ClusterSnapshot, { step, effects }: Decision): readonly string[] {
  return happenings(snapshot, step)
    .filter(({ kind, member }) => !effects.some((one) => one.kind === kind && one.member?.ordinal === member.ordinal))
    .map(({ kind, member }) => `an effect that is not declared: ${kind} on ${member.ordinal}`);
}

/** I24: no member is about to start at a revision other than that of its data, and a held member keeps its revision. */
function ofNewPods(snapshot: ClusterSnapshot, policy: RolloutPolicy, step: Step): readonly string[] {
  const { statefulSet, strategyKeeper } = snapshot;
  const { members } = snapshot;
  const current = statefulSet?.currentRevision;
  const found: string[] = [];
  switch (step.kind) {
    case 'restore': {
      const [{ ordinal }] = step.targets;
      const one = members.find((candidate) => candidate.ordinal === ordinal);
      if (!keepsRevisions(statefulSet) || comesUp(snapshot)) found.push('I24: restored to the update revision');
      if (one === undefined || participates(snapshot, one)) found.push('I24: a member that works goes back');
      const asked = policy.restore?.ordinals.includes(ordinal) === true;
      if (!asked && one !== undefined && hasRun(one)) found.push('I24: a member goes back that has run');
      if (!asked && dataRevision(snapshot, ordinal) !== current) found.push('I24: a member goes back behind its data');
      if (asked && dataRevision(snapshot, ordinal) === null) found.push('I24: a member goes back with unknown data');
      if (setsBack(snapshot, current)) found.push('I24: another member would go back behind its data');
      break;
    }
    case 'setStrategy':
      if (step.newPods === 'UpdateRevision') {
        if (wouldStay(snapshot, policy)) found.push('I24: a member that is held would come back updated');
        if (wouldBeRefused(snapshot, policy))
          found.push('I24: a missing member would start at a mysqld that refuses it');
        if (restsWhilePaused(snapshot, policy)) found.push('I24: a paused rollout no longer keeps revisions');
        break;
      }
      if (comesUp(snapshot)) found.push('I24: new pods would come up at the update revision');
      if (setsBack(snapshot, current)) found.push('I24: a member goes back behind its data');
      if (step.lasts === 'whileHeld' && strategyKeeper === 'webhook') found.push('I24: only a webhook keeps it');
      if (
        step.lasts === 'whileHeld' &&
        everyOrdinal(snapshot).some((ordinal) => !opensAt(snapshot, ordinal, current))
      ) {
        found.push('I24: kept at rest beside other data');
      }
      break;
    case 'promoteRevision':
      if (step.for !== 'keep') break;
      if (step.revision === statefulSet?.updateRevision) found.push('I24: it would keep nothing');
      if (setsBack(snapshot, step.revision)) found.push('I24: a member goes back behind its data');
      break;
    case 'release':
      // From now on nothing changes the current revision, and every next pod starts at it.
      if (!comesUp(snapshot) && !keepsRevisions(statefulSet)) found.push('I24: released at an older revision');
      if (!comesUp(snapshot) && everyOrdinal(snapshot).some((ordinal) => !opensAt(snapshot, ordinal, current))) {
        found.push('I24: released beside other data');
      }
      break;
    default:
  }
  return found;
}

/** Its mysqld may have run at this revision. */
const hasRun = ({ containers, initContainers, phase, unschedulable }: MemberFacts): boolean => {
  const mysqld = containers.find(({ part }) => part === 'mysqld');
  if (phase === 'Failed' || phase === 'Succeeded' || phase === 'Unknown') return true;
  if (mysqld === undefined || mysqld.hasRun || mysqld.state !== 'waiting' || mysqld.restarts > 0) return true;
  const prepares = initContainers.some(({ sidecar, hasRun: has, state, reason }) =>
    sidecar ? !has : state !== 'terminated' || reason !== 'Completed',
  );
  const stopped = /BackOff|ErrImagePull|InvalidImageName|CreateContainer|RunContainer/.test(mysqld.reason ?? '');
  return !prepares && !stopped && unschedulable === null;
};

type Disruption = Extract<Step, { kind: 'delete' | 'evict' }>;

/** It acknowledges nothing, was never configured, or could acknowledge to nobody: the last two once the grace is over. */
function mayGoWithoutQuorum(snapshot: ClusterSnapshot, policy: RolloutPolicy, member: MemberFacts): boolean {
  const { cluster, members } = snapshot;
  if (!acknowledges(snapshot, member)) return true;
  if (hasNeverFollowed(policy, member)) return true;
  const primary = members.find(({ ordinal }) => ordinal === cluster.primaryIndex);
  if (primary === undefined || participates(snapshot, primary)) return false;
  const leads = acknowledges(snapshot, primary) && primary.role !== null;
  return (cluster.primaryUnavailableForSeconds ?? 0) >= policy.failoverGraceSeconds && !leads;
}

/** Not ready since it started, for long, and without a role for less long. */
function hasNeverFollowed(
  { failoverGraceSeconds, progressDeadlineSeconds }: RolloutPolicy,
  member: MemberFacts,
): boolean {
  const forSeconds = behindSince(member);
  const fresh = member.containers.every(({ part, readySinceRestart }) => part !== 'mysqld' || !readySinceRestart);
  const isLate = forSeconds >= failoverGraceSeconds;
  return isLate && fresh && (member.role === null || forSeconds >= progressDeadlineSeconds);
}

function ofDisruption(snapshot: ClusterSnapshot, policy: RolloutPolicy, step: Disruption): string[] {
  const found: string[] = [];
  const { cluster, statefulSet, members } = snapshot;
  const majority = Math.floor(cluster.replicas / 2) + 1;
  const going = members.filter(({ ordinal }) => step.targets.some((target) => target.ordinal === ordinal));
  const remaining = members.filter((member) => !going.includes(member) && participates(snapshot, member));
  if (going.length === 0 || going.length !== step.targets.length) found.push('a target that does not exist');
  for (const member of going) {
    const { ordinal, revision } = member;
    const primary = ordinal === cluster.primaryIndex;
    const target = step.targets.find((one) => one.ordinal === ordinal);
    const healthy = participates(snapshot, member) && !impaired(member);
    const say = (sentence: string): number => found.push(`${sentence} (${step.kind} ${step.rule} ${ordinal})`);
    if (target?.uid !== member.uid || target.resourceVersion !== member.resourceVersion) {
      say('preconditions of another pod');
    }
    if (participates(snapshot, member) && cluster.replicas >= 3 && remaining.length < majority) {
      say('I2: fewer than a majority would remain');
    }
    if (step.rule === 'MemberNotParticipating' && !mayGoWithoutQuorum(snapshot, policy, member)) {
      const long = behindSince(member) >= policy.failoverGraceSeconds;
      const known = members.filter(
        (one) => acknowledges(snapshot, one) && (participates(snapshot, one) || (long && one.role !== null)),
      );
      const led = known.some((one) => one.ordinal === cluster.primaryIndex);
      if (!led || known.filter((one) => one !== member).length < majority) {
        say('I2b: the floor of those that acknowledge');
      }
    }
    if (healthy && primary && cluster.replicas > 1) say('I3: a healthy primary');
    if (healthy && step.kind === 'delete') say('I4: a healthy member deleted');
    if (!healthy && step.kind === 'evict') say('I4: an unhealthy member evicted');
    if (revision === statefulSet?.updateRevision && !leavesNode(step)) say('I5: an updated member');
    if (ordinal < policy.partition && !leavesNode(step)) say('a member below the partition');
    if (member.terminatingForSeconds !== null) say('a member that is terminating');
    if (member.preventDelete) say('a protected member');
    if (recovers(policy, member)) say('a member that recovers');
  }
  if (going.length > 1 && going.some((member) => participates(snapshot, member)))
    found.push('several that participate');
  if (step.kind === 'evict' && going.length > 1) found.push('several evicted');
  if (policy.paused && !(policy.repairWhilePaused && step.rule === 'MemberDown'))
    found.push('a disruption while paused');
  return found;
}

/** I17: what is changed is what the facts allow, of the pod that they are about. */
function ofUpdateInPlace(
  snapshot: ClusterSnapshot,
  policy: RolloutPolicy,
  { targets: [{ ordinal, uid, resourceVersion }], revision, change, rule }: Extract<Step, { kind: 'updateInPlace' }>,
): string[] {
  const member = snapshot.members.find((one) => one.ordinal === ordinal);
  if (member === undefined) return ['I17: a target that does not exist'];
  const { inPlace } = member;
  return [
    ...(uid === member.uid && resourceVersion === member.resourceVersion ? [] : ['preconditions of another pod']),
    ...(inPlace?.kind === 'possible' && inPlace.change === change ? [] : ['I17: a change that the facts do not allow']),
    ...(change.resources.length === 0 ? [] : ['I17: the label before the resize']),
    ...(inPlace?.kind === 'possible' && (inPlace.resize?.awaited ?? []).length > 0
      ? ['I17: the label before the kubelet has resized its containers']
      : []),
    ...((rule === 'NothingRestarts') === (change.containers.length === 0) ? [] : ['I17: a restart by another name']),
    ...ofChangedPod(snapshot, policy, member, revision),
  ];
}

/** I17: what is resized is what the facts allow, and no other member is being resized. */
function ofResize(
  snapshot: ClusterSnapshot,
  policy: RolloutPolicy,
  { targets: [{ ordinal, uid, resourceVersion }], revision, resources, rule }: Extract<Step, { kind: 'resizeInPlace' }>,
): string[] {
  const member = snapshot.members.find((one) => one.ordinal === ordinal);
  if (member === undefined) return ['I17: a target that does not exist'];
  const { inPlace } = member;
  const restarts = resources.some((one) => one.restarts);
  return [
    ...(uid === member.uid && resourceVersion === member.resourceVersion ? [] : ['preconditions of another pod']),
    ...(inPlace?.kind === 'possible' && inPlace.change.resources === resources && resources.length > 0
      ? []
      : ['I17: a resize that the facts do not allow']),
    ...((rule === 'ResizeRestartsContainers') === restarts ? [] : ['I17: a restart by another name']),
    ...ofChangedPod(snapshot, policy, member, revision),
  ];
}

function ofChangedPod(
  { statefulSet }: ClusterSnapshot,
  policy: RolloutPolicy,
  member: MemberFacts,
  revision: string,
): string[] {
  const { ordinal } = member;
  return [
    ...(revision === statefulSet?.updateRevision ? [] : ['I17: an update to another revision']),
    ...(member.revision === revision ? ['I5: an update of an updated member'] : []),
    ...(ordinal < policy.partition ? ['a member below the partition'] : []),
    ...(member.terminatingForSeconds === null ? [] : ['a member that is terminating']),
    ...(policy.paused ? ['a disruption while paused'] : []),
  ];
}

function ofLowering(
  { cluster, statefulSet, members }: ClusterSnapshot,
  policy: RolloutPolicy,
  { partition, targets }: Extract<Step, { kind: 'setPartition' }>,
): string[] {
  const found: string[] = [];
  const before = Math.min(statefulSet?.partition ?? 0, cluster.replicas);
  if (partition !== before - 1) found.push('a partition lowered by more than one');
  if (!(partition >= policy.partition)) found.push('a partition below that of the user');
  const below = members.find(({ ordinal }) => ordinal === partition);
  const stale = below !== undefined && below.revision !== statefulSet?.updateRevision;
  const named = targets.map(({ uid, resourceVersion }) => `${uid} ${resourceVersion}`).join();
  if (named !== (stale ? `${below.uid} ${below.resourceVersion}` : '')) found.push('I5: not the member that goes');
  if (below !== undefined && below.terminatingForSeconds !== null && stale) found.push('a member that is terminating');
  return found;
}

/** I29: a member leaves its node only if the user's setting asks for that, and comes back at its revision. */
function ofLeaving(
  { cluster, statefulSet, members }: ClusterSnapshot,
  { nodeMaintenance }: RolloutPolicy,
  { kind, targets }: Extract<Step, { readonly targets: readonly unknown[] }>,
): string[] {
  const going = members.filter(({ ordinal }) => targets.some((one) => one.ordinal === ordinal));
  const found: string[] = [];
  if (going.some(({ leaving }) => leaving === null)) found.push('I29: a member leaves a node that is not emptied');
  if (nodeMaintenance === 'Ignore') found.push('I29: a member leaves although the user wants to ignore nodes');
  if (kind !== 'evict') return found;
  const next = statefulSet?.newPods === 'CurrentRevision' ? statefulSet.currentRevision : statefulSet?.updateRevision;
  if (nodeMaintenance !== 'Evacuate') found.push('I29: a replica leaves although only the primary is to be moved');
  if (going.some(({ ordinal }) => ordinal === cluster.primaryIndex)) found.push('I29: the pod of the primary leaves');
  if (going.some(({ revision }) => revision !== next)) found.push('I29: a member that leaves comes back as another');
  return found;
}

function ofDemotion(
  snapshot: ClusterSnapshot,
  policy: RolloutPolicy,
  step: Extract<Step, { kind: 'demote' }>,
): string[] {
  const { cluster, statefulSet, members } = snapshot;
  const [{ ordinal }] = step.targets;
  const found: string[] = [];
  if (ordinal !== cluster.primaryIndex) found.push('a demotion of a replica');
  const asked = members.find((one) => one.ordinal === ordinal);
  if (asked?.demote === true && asked.demoteForSeconds < policy.switchoverTimeoutSeconds)
    found.push('a switchover that is requested twice');
  if (cluster.replicas < 2) found.push('a demotion without a successor');
  if (step.mark !== (leavesNode(step) ? 'node-leaving' : statefulSet?.updateRevision))
    found.push('a demotion for another revision');
  const stale = members.filter(({ revision }) => revision !== statefulSet?.updateRevision);
  if (!leavesNode(step) && stale.some((one) => one.ordinal !== ordinal && one.ordinal >= policy.partition))
    found.push('a demotion before its turn');
  if (!leavesNode(step) && !stale.some((one) => one.ordinal === ordinal))
    found.push('I5: a demotion of an updated member');
  if (members.filter((one) => participates(snapshot, one)).length < cluster.replicas)
    found.push('I2: a demotion while one is away');
  return found;
}

/** I12, and its precedence: a demotion of ours whose reason is gone is taken back before anything else is done. */
function ofDemotionsLeft(
  snapshot: ClusterSnapshot,
  policy: RolloutPolicy,
  step: Step,
  contradictory: boolean,
): string[] {
  const { cluster, statefulSet, members, ownWritePending, statusRefusal, rolloutProblem, stepFailure } = snapshot;
  const isUnsettled = stepFailure?.step === null;
  const isUnwritable = ownWritePending !== null || statusRefusal !== null || rolloutProblem !== null || isUnsettled;
  if (contradictory || cluster.deleting || statefulSet === null || isUnwritable) {
    return step.kind === 'none' ? [] : ['a step while nothing may be written'];
  }
  const stale = (one: MemberFacts): boolean => one.revision !== statefulSet.updateRevision;
  // Who is due is not known before Kubernetes has looked at the newest template; a moment later it is.
  const known = statefulSet.observed && !statefulSet.deleting && statefulSet.updateRevision !== '';
  const due = members.filter(
    (one) => stale(one) && one.terminatingForSeconds === null && one.ordinal >= policy.partition,
  );
  const over = members.filter((one) => {
    if (one.demotedFor === null || one.terminatingForSeconds !== null) return false;
    if (one.demote && one.demoteForSeconds >= policy.switchoverTimeoutSeconds) return true;
    if (policy.paused && !policy.repairWhilePaused && policy.mode !== 'MOCO') return true;
    const isForNode = one.demotedFor === 'node-leaving';
    if (!one.demote) {
      if (isForNode) return true;
      // A mark alone goes with its pod, where nobody else is to go before it.
      if (!known) return policy.mode !== 'OnDelete';
      const next = due.filter(({ ordinal }) => !policy.pinnedOrdinals.includes(ordinal));
      const isNext = next.length === 1 && next[0] === one && one.demotedFor === statefulSet.updateRevision;
      return policy.mode !== 'OnDelete' || !isNext;
    }
    // What MOCO is about to take away itself, as the last part of a switchover, is left to it.
    if (one.ordinal !== cluster.primaryIndex) return !rolesMove(snapshot, policy);
    if (policy.mode !== 'OnDelete') return true;
    if (isForNode) return one.leaving === null || policy.nodeMaintenance === 'Ignore' || cluster.replicas < 2;
    if (!known) return false;
    return due.length > 1 || !due.includes(one) || one.demotedFor !== statefulSet.updateRevision;
  });
  if (over.length > 0 && step.kind !== 'undemote') return ['I12: a demotion outlives its reason'];
  if (step.kind !== 'undemote') return [];
  const [{ ordinal }] = step.targets;
  const taken = members.find((one) => one.ordinal === ordinal);
  return taken?.demotedFor === null ? ['a demotion taken back that is not ours'] : [];
}

function ofReports({ cluster, members }: ClusterSnapshot, decision: Decision): string[] {
  const reported = decision.members.map(({ ordinal }) => ordinal);
  const found = reported.every((ordinal, index) => index === 0 || !(ordinal < (reported[index - 1] ?? 0)))
    ? []
    : ['verdicts out of order'];
  if (impossible({ cluster, members } as ClusterSnapshot)) return found;
  const expected = new Set(members.map(({ ordinal }) => ordinal));
  for (let ordinal = 0; ordinal < cluster.replicas; ordinal++) expected.add(ordinal);
  if (reported.length !== expected.size || reported.some((ordinal) => !expected.has(ordinal))) {
    found.push('not one verdict for each member');
  }
  return found;
}
