import { admissionNotInForce, isAdopted } from './adoption.ts';
import { isReadable } from './budget.ts';
import { type Hold, type HoldOf, type HoldRule, type RuleGroup, type RulesOf, rules } from './rules/catalogue.ts';
import { isPossibleSize, type Situation } from './situation.ts';

type HoldFunction<Name extends HoldRule> = (situation: Situation) => HoldOf<Name> | null;
/** A function for each rule of a group, in the order in which they are asked. */
type Chain<Group extends RuleGroup> = { readonly [Name in RulesOf<Group>]: HoldFunction<Name> };

/** Nothing is written at all while one of these holds, not even to take back a demotion. */
export const untouchable: Chain<'untouchable'> = {
  SnapshotInconsistent: ({ snapshot, replicas }) => {
    const problem = inconsistency(snapshot, replicas);
    return problem === null ? null : { rule: 'SnapshotInconsistent', problem };
  },
  ClusterDeleting: ({ snapshot }) => (snapshot.cluster.deleting ? { rule: 'ClusterDeleting' } : null),
  RolloutNotOwned: ({ snapshot: { rolloutProblem: problem } }) =>
    problem?.kind === 'notOwned' ? { rule: 'RolloutNotOwned', owner: problem.owner } : null,
  RolloutTerminating: ({ snapshot: { rolloutProblem: problem } }) =>
    problem?.kind === 'terminating' ? { rule: 'RolloutTerminating', finalizers: problem.finalizers } : null,
  StatefulSetMissing: ({ snapshot }) => (snapshot.statefulSet === null ? { rule: 'StatefulSetMissing' } : null),
  DefinitionOutdated: ({ snapshot: { statusRefusal: message } }) =>
    message === null ? null : { rule: 'DefinitionOutdated', message },
  AwaitingOwnWrite: ({ snapshot: { ownWritePending: write } }) =>
    write === null ? null : { rule: 'AwaitingOwnWrite', write },
};

/** Every step is blocked, except taking back a demotion and the adoption that `StrategyNotOnDelete` waits for. */
export const everything: Chain<'everything'> = {
  SettingsInvalid: ({ snapshot, policy }) => {
    const unreadable = isReadable(policy.maxUnavailable) ? null : `maxUnavailable is ${policy.maxUnavailable}`;
    const problem = snapshot.settingsProblem ?? unreadable;
    return problem === null ? null : { rule: 'SettingsInvalid', problem };
  },
  StatefulSetDeleting: ({ snapshot }) => (snapshot.statefulSet?.deleting ? { rule: 'StatefulSetDeleting' } : null),
  Released: ({ snapshot, policy }) => (policy.mode === 'OnDelete' && snapshot.released ? { rule: 'Released' } : null),
  StatefulSetNotObserved: ({ snapshot: { statefulSet } }) =>
    statefulSet?.observed && statefulSet.updateRevision !== '' ? null : { rule: 'StatefulSetNotObserved' },
  ReconciliationStopped: ({ snapshot }) =>
    snapshot.cluster.reconciliationStopped ? { rule: 'ReconciliationStopped' } : null,
  ClusteringStopped: ({ snapshot }) => (snapshot.cluster.clusteringStopped ? { rule: 'ClusteringStopped' } : null),
  Offline: ({ snapshot }) => (snapshot.cluster.offline ? { rule: 'Offline' } : null),
  ForcedRollingUpdate: ({ snapshot: { cluster, statefulSet } }) =>
    cluster.forcedRollingUpdate || statefulSet?.forcedRollingUpdate ? { rule: 'ForcedRollingUpdate' } : null,
  AdmissionNotInForce: admissionNotInForce,
  StrategyNotOnDelete: (situation) =>
    situation.policy.mode !== 'OnDelete' || isAdopted(situation) || isFirstAdoptionPaused(situation)
      ? null
      : { rule: 'StrategyNotOnDelete', labelled: situation.snapshot.statefulSet?.labelled === true },
  Paused: (situation) =>
    situation.policy.paused && (!situation.policy.repairWhilePaused || isFirstAdoptionPaused(situation))
      ? { rule: 'Paused' }
      : null,
  RevisionFlapping: revisionFlapping,
};

/** The cluster is not yet what its MySQLCluster asks for. Only members that are down are replaced. */
export const unfinished: Chain<'unfinished'> = {
  NotReconciled: ({ snapshot }) => {
    const { generation, reconciledGeneration, succeededGeneration: succeeded } = snapshot.cluster;
    return reconciledGeneration === generation && succeeded === generation
      ? null
      : { rule: 'NotReconciled', generation, succeeded };
  },
  NotInitialized: ({ snapshot }) => (snapshot.cluster.initialized ? null : { rule: 'NotInitialized' }),
  MemberMissing: memberMissing,
  Scaling: ({ snapshot, members, replicas }) => {
    const statefulSet = snapshot.statefulSet?.replicas ?? replicas;
    return statefulSet !== replicas || members.length > replicas
      ? { rule: 'Scaling', wanted: replicas, statefulSet, pods: members.length }
      : null;
  },
};

type Check = (situation: Situation) => Hold | null;

const untouchableChecks: readonly Check[] = Object.values(untouchable);
const everythingChecks: readonly Check[] = Object.values(everything);
const unfinishedChecks: readonly Check[] = Object.values(unfinished);
/** The user's settings have no effect on MOCO's partition controller. */
const checksOfMoco: readonly Check[] = [
  everything.StatefulSetDeleting,
  everything.StatefulSetNotObserved,
  everything.Offline,
  everything.ForcedRollingUpdate,
];
const lastingChecks = lasting(everything);
const lastingUnfinishedChecks: readonly Check[] = [...lasting(unfinished), creationFails];

/** A switchover takes seconds, and asking for it again costs another one. So it goes on under holds that end within seconds. */
function lasting(chain: Readonly<Record<string, Check>>): readonly Check[] {
  return Object.entries(chain).flatMap(([name, check]) => (rules[name as HoldRule].keepsDemotion ? [] : [check]));
}

function firstHold(checks: readonly Check[], situation: Situation): Hold | null {
  for (const check of checks) {
    const hold = check(situation);
    if (hold !== null) return hold;
  }
  return null;
}

export const holdUntouchable = (situation: Situation): Hold | null => firstHold(untouchableChecks, situation);
export const holdEverything = (situation: Situation): Hold | null => firstHold(everythingChecks, situation);
export const holdEverythingOfMoco = (situation: Situation): Hold | null => firstHold(checksOfMoco, situation);
export const holdUnfinished = (situation: Situation): Hold | null => firstHold(unfinishedChecks, situation);
/** Everything except the deletion of due members that are down. */
export const holdEverythingButRepairs = (situation: Situation): Hold | null =>
  pausedButForRepairs(situation) ?? holdUnfinished(situation);

/** The same, without the holds that end by themselves within seconds. */
export const holdEverythingLasting = (situation: Situation): Hold | null => firstHold(lastingChecks, situation);
export const holdEverythingButRepairsLasting = (situation: Situation): Hold | null =>
  pausedButForRepairs(situation) ?? firstHold(lastingUnfinishedChecks, situation);

/** Until Kubernetes has observed the newest template, the update revision is unknown, and so are the due members. */
export const isRevisionKnown = (situation: Situation): boolean =>
  everything.StatefulSetDeleting(situation) === null && everything.StatefulSetNotObserved(situation) === null;

function inconsistency({ cluster, members }: Situation['snapshot'], replicas: number): string | null {
  if (!isPossibleSize(replicas)) return `spec.replicas of the MySQLCluster is ${replicas}`;
  if (!Number.isInteger(cluster.primaryIndex) || cluster.primaryIndex < 0 || cluster.primaryIndex >= replicas) {
    return `the primary index ${cluster.primaryIndex} is not one of ${replicas} members`;
  }
  if (!(cluster.syncedReplicas >= 0)) return `status.syncedReplicas is ${cluster.syncedReplicas}`;
  const seen = new Set<number>();
  for (const { ordinal } of members) {
    if (!Number.isInteger(ordinal) || ordinal < 0) return `a pod has the ordinal ${ordinal}`;
    if (seen.has(ordinal)) return `two pods have the ordinal ${ordinal}`;
    seen.add(ordinal);
  }
  return null;
}

/** A pause never changes who replaces pods: it holds a first adoption, and allows one that protects pods again. */
function isFirstAdoptionPaused({ snapshot, policy }: Situation): boolean {
  const wasAdopted = snapshot.statefulSet?.labelled === true || snapshot.wasAdopted;
  return policy.paused && policy.mode === 'OnDelete' && !wasAdopted;
}

function pausedButForRepairs({ policy }: Situation): Hold | null {
  return policy.paused ? { rule: 'Paused' } : null;
}

/** More update revisions than this within ten minutes come from two writers and not from a user. */
const mostRevisions = 3;
const flappingWindowSeconds = 600;

function revisionFlapping({ snapshot, deadlines, overridden }: Situation): HoldOf<'RevisionFlapping'> | null {
  if (overridden.has('RevisionFlapping')) return null;
  const recent = snapshot.memory.recentRevisionAgesSeconds.filter(
    (ageSeconds) => !deadlines.reached(ageSeconds, flappingWindowSeconds),
  );
  return recent.length > mostRevisions ? { rule: 'RevisionFlapping', revisions: recent.length } : null;
}

function memberMissing({ missing, snapshot }: Situation): HoldOf<'MemberMissing'> | null {
  return missing.length > 0 ? { rule: 'MemberMissing', members: missing, message: snapshot.createFailure } : null;
}

/** MOCO's clustering, and with it every switchover, stops until a person makes it possible to create the member. */
function creationFails(situation: Situation): HoldOf<'MemberMissing'> | null {
  return situation.snapshot.createFailure === null ? null : memberMissing(situation);
}

/**
 * The StatefulSet controller has not created a member yet, and may never be able to: a quota or an admission policy can
 * reject the template. Under OrderedReady management, which MOCO does not use, a member is also missing because one below it
 * is down. There only a creation that is known to fail counts.
 */
export function creationOutstanding(situation: Situation): Hold | null {
  const { missing, snapshot } = situation;
  const { statefulSet, createFailure } = snapshot;
  if (statefulSet === null || !missing.some((ordinal) => ordinal < statefulSet.replicas)) return null;
  return statefulSet.podManagement === 'Parallel' || createFailure !== null ? memberMissing(situation) : null;
}
