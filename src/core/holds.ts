import { admissionNotInForce, isAdopted } from './adoption.ts';
import { isReadable } from './budget.ts';
import type { Hold } from './decision.ts';
import { isPossibleSize, type Situation } from './situation.ts';

type HoldRuleFunction = (situation: Situation) => Hold | null;

function firstHold(chain: readonly HoldRuleFunction[], situation: Situation): Hold | null {
  for (const rule of chain) {
    const hold = rule(situation);
    if (hold !== null) return hold;
  }
  return null;
}

/** Nothing is written at all while one of these is on, not even what takes a demotion of ours back. */
const untouchable: readonly HoldRuleFunction[] = [
  snapshotImpossible, // facts that contradict each other prove nothing
  clusterDeleting, // whatever is done now is undone by the garbage collector
  rolloutNotOwned, // what it says and remembers is about another cluster
  rolloutTerminating, // what is written down in it is lost when it goes
  statefulSetMissing, // there is no update revision to compare with
  definitionOutdated, // a step that can't be written down has no fence
  awaitingOwnWrite, // the facts are older than what was done
];

/** No step but a take-back, and the one that a rule names itself. */
const everything: readonly HoldRuleFunction[] = [
  policyUnknown, // never act on defaults when the user has said something else
  statefulSetDeleting, // being re-created: its revisions are about to start anew
  statefulSetNotObserved, // updateRevision may still belong to the template before
  handedBack, // the user took the cluster back
  reconciliationStopped, // the user has told MOCO to keep its hands off: so do we
  clusteringStopped, // nobody would switch over or fail over
  offline, // scaled to nothing on purpose
  forcedRollingUpdate, // the user asked for the StatefulSet's own rolling update
  admissionNotInForce, // MOCO's next write would bring its own strategy, or none that holds pods back
  strategyNotOnDelete, // somebody else is deleting pods
  paused,
  revisionFlapping, // two writers fight over the template
];

/** What MOCO's partition controller asks about before anything else; the user's wishes have no effect on it. */
const everythingOfMoco: readonly HoldRuleFunction[] = [
  statefulSetDeleting,
  statefulSetNotObserved,
  offline,
  forcedRollingUpdate,
];

/** The cluster is not what its MySQLCluster asks for. */
const unfinished: readonly HoldRuleFunction[] = [
  notReconciled, // the template that MOCO wants may be another one
  notInitialized, // a clone or a restore would start from the beginning
  memberMissing, // its pod may come up in any state
  scaling, // scaling comes before updating
];

/**
 * What MOCO or Kubernetes ends by itself, as a rule within seconds. It keeps the next step, and it does not take back a
 * demotion that is wanted otherwise: a switchover takes two seconds, and to ask for it again costs another one. Where such
 * a hold stays, the demotion's own time limit ends it. SPEC.md says of each other hold why it takes a demotion back.
 */
const passing: ReadonlySet<HoldRuleFunction> = new Set([
  statefulSetDeleting, // MOCO makes it again, and its pods stay
  statefulSetNotObserved, // Kubernetes looks at each new template within a moment
  notReconciled, // MOCO's next reconciliation
  memberMissing, // the StatefulSet makes it again, unless it says that it can't
  scaling, // MOCO's next reconciliation
]);

const lasts = (rule: HoldRuleFunction): boolean => !passing.has(rule);
const everythingLasting = everything.filter(lasts);
const unfinishedLasting = [...unfinished.filter(lasts), creationFails];

export const holdUntouchable = (situation: Situation): Hold | null => firstHold(untouchable, situation);
export const holdEverything = (situation: Situation): Hold | null => firstHold(everything, situation);
export const holdEverythingOfMoco = (situation: Situation): Hold | null => firstHold(everythingOfMoco, situation);
export const holdUnfinished = (situation: Situation): Hold | null => firstHold(unfinished, situation);
/** Nothing but the deletion of due members that are down. */
export const holdEverythingButRepairs = (situation: Situation): Hold | null =>
  pausedButForRepairs(situation) ?? holdUnfinished(situation);

/** The same without what passes by itself within seconds. */
export const holdEverythingLasting = (situation: Situation): Hold | null => firstHold(everythingLasting, situation);
export const holdEverythingButRepairsLasting = (situation: Situation): Hold | null =>
  pausedButForRepairs(situation) ?? firstHold(unfinishedLasting, situation);

/** Not until Kubernetes has looked at the newest template is it known which revision is wanted, and so who is due. */
export const isRevisionKnown = (situation: Situation): boolean =>
  statefulSetDeleting(situation) === null && statefulSetNotObserved(situation) === null;

export function snapshotImpossible({ snapshot, replicas }: Situation): Hold | null {
  const { cluster, members } = snapshot;
  const problem = (sentence: string): Hold => ({ rule: 'SnapshotImpossible', problem: sentence });
  if (!isPossibleSize(replicas)) return problem(`spec.replicas of the MySQLCluster is ${replicas}`);
  if (!Number.isInteger(cluster.primaryIndex) || cluster.primaryIndex < 0 || cluster.primaryIndex >= replicas) {
    return problem(`the primary index ${cluster.primaryIndex} is not one of ${replicas} members`);
  }
  if (!(cluster.syncedReplicas >= 0)) return problem(`status.syncedReplicas is ${cluster.syncedReplicas}`);
  const seen = new Set<number>();
  for (const { ordinal } of members) {
    if (!Number.isInteger(ordinal) || ordinal < 0) return problem(`a pod has the ordinal ${ordinal}`);
    if (seen.has(ordinal)) return problem(`two pods have the ordinal ${ordinal}`);
    seen.add(ordinal);
  }
  return null;
}

function clusterDeleting({ snapshot }: Situation): Hold | null {
  return snapshot.cluster.deleting ? { rule: 'ClusterDeleting' } : null;
}

function rolloutNotOwned({ snapshot: { rolloutProblem: problem } }: Situation): Hold | null {
  return problem?.kind === 'notOwned' ? { rule: 'RolloutNotOwned', owner: problem.owner } : null;
}

function rolloutTerminating({ snapshot: { rolloutProblem: problem } }: Situation): Hold | null {
  return problem?.kind === 'terminating' ? { rule: 'RolloutTerminating', finalizers: problem.finalizers } : null;
}

function statefulSetMissing({ snapshot }: Situation): Hold | null {
  return snapshot.statefulSet === null ? { rule: 'StatefulSetMissing' } : null;
}

function definitionOutdated({ snapshot }: Situation): Hold | null {
  const { fieldsNotKept: fields } = snapshot;
  return fields.length === 0 ? null : { rule: 'DefinitionOutdated', fields };
}

function awaitingOwnWrite({ snapshot }: Situation): Hold | null {
  return snapshot.ownWritePending === null ? null : { rule: 'AwaitingOwnWrite', write: snapshot.ownWritePending };
}

function policyUnknown({ snapshot, policy }: Situation): Hold | null {
  const unreadable = isReadable(policy.maxUnavailable) ? null : `maxUnavailable is ${policy.maxUnavailable}`;
  const problem = snapshot.policyProblem ?? unreadable;
  return problem === null ? null : { rule: 'PolicyUnknown', problem };
}

function statefulSetDeleting({ snapshot }: Situation): Hold | null {
  return snapshot.statefulSet?.deleting ? { rule: 'StatefulSetDeleting' } : null;
}

function statefulSetNotObserved({ snapshot }: Situation): Hold | null {
  return snapshot.statefulSet?.observed && snapshot.statefulSet.updateRevision !== ''
    ? null
    : { rule: 'StatefulSetNotObserved' };
}

function handedBack({ snapshot, policy }: Situation): Hold | null {
  return policy.mode === 'OnDelete' && snapshot.handedBack ? { rule: 'HandedBack' } : null;
}

function reconciliationStopped({ snapshot }: Situation): Hold | null {
  return snapshot.cluster.reconciliationStopped ? { rule: 'ReconciliationStopped' } : null;
}

function clusteringStopped({ snapshot }: Situation): Hold | null {
  return snapshot.cluster.clusteringStopped ? { rule: 'ClusteringStopped' } : null;
}

function offline({ snapshot }: Situation): Hold | null {
  return snapshot.cluster.offline ? { rule: 'Offline' } : null;
}

function forcedRollingUpdate({ snapshot }: Situation): Hold | null {
  return snapshot.cluster.forcedRollingUpdate || snapshot.statefulSet?.forcedRollingUpdate
    ? { rule: 'ForcedRollingUpdate' }
    : null;
}

function strategyNotOnDelete(situation: Situation): Hold | null {
  const { snapshot, policy } = situation;
  return policy.mode !== 'OnDelete' || isAdopted(situation)
    ? null
    : { rule: 'StrategyNotOnDelete', labelled: snapshot.statefulSet?.labelled === true };
}

function paused({ policy }: Situation): Hold | null {
  return policy.paused && !policy.repairWhilePaused ? { rule: 'Paused' } : null;
}

function pausedButForRepairs({ policy }: Situation): Hold | null {
  return policy.paused ? { rule: 'Paused' } : null;
}

/** More update revisions than this within ten minutes are a fight and not a user. */
const mostRevisions = 3;
const flappingWindowSeconds = 600;

function revisionFlapping({ snapshot, deadlines, overridden }: Situation): Hold | null {
  if (overridden.has('RevisionFlapping')) return null;
  const recent = snapshot.memory.recentRevisionAgesSeconds.filter(
    (ageSeconds) => !deadlines.reached(ageSeconds, flappingWindowSeconds),
  );
  return recent.length > mostRevisions ? { rule: 'RevisionFlapping', revisions: recent.length } : null;
}

function notReconciled({ snapshot }: Situation): Hold | null {
  const { generation, reconciledGeneration, succeededGeneration } = snapshot.cluster;
  return reconciledGeneration === generation && succeededGeneration === generation
    ? null
    : { rule: 'NotReconciled', generation, succeeded: succeededGeneration };
}

function notInitialized({ snapshot }: Situation): Hold | null {
  return snapshot.cluster.initialized ? null : { rule: 'NotInitialized' };
}

function memberMissing({ missing, snapshot }: Situation): Hold | null {
  return missing.length > 0 ? { rule: 'MemberMissing', members: missing, message: snapshot.createFailure } : null;
}

/** MOCO's clustering, and with it every switchover, stands still until a person lets the StatefulSet make the member. */
function creationFails(situation: Situation): Hold | null {
  return situation.snapshot.createFailure === null ? null : memberMissing(situation);
}

/**
 * The StatefulSet has still to make a member, and may never be able to: a quota or an admission policy may reject its
 * template. Under OrderedReady management, which isn't MOCO's, a member is also missing because one below it is down, so
 * only a creation that is known to fail counts there.
 */
export function creationOutstanding(situation: Situation): Hold | null {
  const { missing, snapshot } = situation;
  const { statefulSet, createFailure } = snapshot;
  if (statefulSet === null || !missing.some((ordinal) => ordinal < statefulSet.replicas)) return null;
  return statefulSet.podManagement === 'Parallel' || createFailure !== null ? memberMissing(situation) : null;
}

function scaling({ snapshot, members, replicas }: Situation): Hold | null {
  const statefulSet = snapshot.statefulSet?.replicas ?? replicas;
  return statefulSet !== replicas || members.length > replicas
    ? { rule: 'Scaling', wanted: replicas, statefulSet, pods: members.length }
    : null;
}
