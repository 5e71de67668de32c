import { mayAdopt } from './adoption.ts';
import { checked } from './checks.ts';
import type { Decision } from './decision.ts';
import { rolesMoving, takeBackDemotion } from './demotion.ts';
import { disruptionControllerBehind } from './disruption-controller.ts';
import { failingRevision, isVerified } from './failing-revision.ts';
import { updatedMemberUnsettled } from './gates.ts';
import {
  holdEverything,
  holdEverythingButRepairs,
  holdEverythingOfMoco,
  holdUnfinished,
  holdUntouchable,
  untouchable,
} from './holds.ts';
import { lowerPartition, notYetReplaced } from './lower-partition.ts';
import { outsideMaintenance } from './maintenance.ts';
import { restartUnserved, startUnserved } from './no-serving-members.ts';
import {
  membersDown,
  membersRunning,
  membersUnreachable,
  primaryUnavailable,
  protectedRemains,
  unreachableRemains,
} from './not-participating.ts';
import { nothingDue } from './nothing-due.ts';
import { healthyReplicas, membersImpaired, primaryLast, updatedMembersSettle } from './participating.ts';
import type { RolloutPolicy } from './policy.ts';
import { recoveringRemains } from './recovering.ts';
import { release } from './release.ts';
import { replicasBehind } from './replicas-behind.ts';
import { reports } from './reports.ts';
import { type Hold, isRequestedByUser } from './rules/catalogue.ts';
import { type Outcome, type Situation, survey, take, wait } from './situation.ts';
import type { ClusterSnapshot } from './snapshot.ts';
import { stepFailing } from './step-failing.ts';
import { nothingRestarts } from './update-in-place.ts';
import { waitForMoco } from './wait-for-moco.ts';

type Rule = (situation: Situation) => Outcome | null;

/** The whole procedure under OnDelete. The first line that returns an outcome ends it. */
const onDelete: readonly Rule[] = [
  (situation) => held(holdUntouchable(situation)),
  takeBackDemotion, // our demotion never outlives its reason, whatever else holds
  release, // the user released the cluster
  withItsStep, // nothing moves
  revisionFails, // a failed update stops the rollout
  membersDown, // they do no work: all at once
  (situation) => held(holdEverythingButRepairs(situation)),
  nothingDue,
  nothingRestarts, // no member goes
  fleetHold, // from here on members that work are taken
  membersUnreachable,
  primaryUnavailable, // MOCO has time for a failover
  rolesHold, // from here on a quorum with a primary is needed
  membersRunning,
  protectedRemains,
  recoveringRemains,
  unreachableRemains,
  updatedMembersSettle, // the previous member first
  membersImpaired,
  healthyReplicas,
  primaryLast,
];

/**
 * Partition mode has the same holds. Its main step lowers the partition, and the StatefulSet controller deletes the
 * pods.
 */
const partition: readonly Rule[] = [
  (situation) => held(holdUntouchable(situation)),
  takeBackDemotion,
  release, // it was at OnDelete before
  withItsStep,
  revisionFails,
  startUnserved,
  (situation) => held(holdEverythingButRepairs(situation)),
  fleetHold,
  restartUnserved,
  lowerPartition,
  nothingDue,
  stillAtWork,
];

/** MOCO lowers the partition. This program only releases what it still has. */
const observe: readonly Rule[] = [
  (situation) => held(holdUntouchable(situation)),
  takeBackDemotion,
  release,
  (situation) => held(holdEverythingOfMoco(situation)),
  (situation) => held(failingRevision(situation)),
  (situation) => held(holdUnfinished(situation)),
  waitForMoco,
  nothingDue,
  stillAtWork,
];

const procedures: Readonly<Record<RolloutPolicy['mode'], readonly Rule[]>> = {
  OnDelete: onDelete,
  Partition: partition,
  Observe: observe,
};

/**
 * Returns the one step that may be done now, or the hold that blocks it, and a verdict for every member. Pure: the same
 * facts give the same decision. Never throws: inconsistent facts give the hold `SnapshotInconsistent`.
 */
export function decide(snapshot: ClusterSnapshot, policy: RolloutPolicy): Decision {
  const situation = survey(snapshot, policy);
  const stale = situation.members.filter((member) => !member.updated).length;
  const complete = isComplete(situation, stale);
  const first = outsideMaintenance(situation, firstOutcome(situation));
  const due = stepFailing(situation, disruptionControllerBehind(situation, first));
  const checks = checked(situation, due, complete);
  const outcome = replicasBehind(situation, checks.outcome);
  return {
    step: outcome?.step ?? { kind: 'none' },
    hold: outcome?.hold ?? null,
    members: reports(situation, outcome),
    stale,
    verified: isVerified(situation),
    failing: failingRevision(situation) !== null,
    complete,
    progressDeadlineExceeded: isStuck(situation, stale, outcome?.hold ?? null),
    asksChecks: checks.asks,
    checksPass: checks.pass,
    requeueAfterSeconds: situation.deadlines.soonestSeconds,
  };
}

function firstOutcome(situation: Situation): Outcome | null {
  for (const rule of procedures[situation.policy.mode]) {
    const outcome = rule(situation);
    if (outcome !== null) return outcome;
  }
  return null;
}

function held(hold: ReturnType<typeof holdEverything>): Outcome | null {
  return hold ? wait(hold) : null;
}

function withItsStep(situation: Situation): Outcome | null {
  const hold = holdEverything(situation);
  return hold?.rule === 'StrategyNotOnDelete' && mayAdopt(situation) ? take({ kind: 'setStrategy' }) : held(hold);
}

/** Members that are down wait for no other cluster, and neither does a rollout that has begun. */
function fleetHold({ snapshot, overridden, deadlines }: Situation): Outcome | null {
  const { fleetWaits, fleetQueue, fleetInterval } = snapshot;
  for (const { hold, remainingSeconds } of fleetWaits) {
    const isOver = remainingSeconds !== null && deadlines.reached(0, remainingSeconds);
    if (!isOver && !overridden.has(hold.rule)) return wait(hold);
  }
  if (fleetQueue !== null && !overridden.has('AwaitingFleetSlot')) {
    return wait({ rule: 'AwaitingFleetSlot', ...fleetQueue });
  }
  if (fleetInterval === null || overridden.has('AwaitingFleetInterval')) return null;
  const { flag, seconds, sinceSeconds } = fleetInterval;
  return deadlines.reached(sinceSeconds, seconds) ? null : wait({ rule: 'AwaitingFleetInterval', flag, seconds });
}

function isStuck({ snapshot, policy, deadlines }: Situation, stale: number, hold: Hold | null): boolean {
  if (stale === 0 || (hold !== null && isRequestedByUser(hold.rule))) return false;
  return deadlines.reached(snapshot.memory.sinceProgressSeconds, policy.progressDeadlineSeconds);
}

/** The StatefulSet controller has not replaced a member yet, or the member is not settled. */
function stillAtWork(situation: Situation): Outcome | null {
  return held(updatedMemberUnsettled(situation) ?? notYetReplaced(situation));
}

function rolesHold(situation: Situation): Outcome | null {
  return held(rolesMoving(situation));
}

/** Without a quorum nothing is lost if members that are down get the revision after the progress deadline. */
function revisionFails(situation: Situation): Outcome | null {
  const hold = failingRevision(situation);
  if (hold === null) return null;
  const { deadlines, snapshot, policy, participating, majority } = situation;
  const quorumLost = participating < majority;
  const timeIsUp =
    quorumLost && deadlines.reached(snapshot.memory.sinceProgressSeconds, policy.progressDeadlineSeconds);
  return (timeIsUp && policy.mode === 'OnDelete' ? membersDown(situation) : null) ?? wait(hold);
}

/** A member that only waits for a role counts as done: MOCO gives it one without another step. */
function isComplete(situation: Situation, stale: number): boolean {
  const { snapshot, members, missing } = situation;
  return (
    stale === 0 &&
    missing.length === 0 &&
    snapshot.statefulSet?.observed === true &&
    !snapshot.statefulSet.deleting &&
    untouchable.SnapshotInconsistent(situation) === null &&
    holdUnfinished(situation) === null &&
    members.every(
      ({ state, unsettled }) => state === 'participating' && (unsettled === null || unsettled.for === 'role'),
    )
  );
}
