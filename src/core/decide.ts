import { mayAdopt } from './adoption.ts';
import { isAskedFor } from './asked-for.ts';
import type { Decision, Hold } from './decision.ts';
import { rolesMoving, takeBackDemotion } from './demotion.ts';
import { failingRevision, isProven } from './failing-revision.ts';
import { updatedMemberOwes } from './gates.ts';
import { handBack } from './hand-back.ts';
import {
  holdEverything,
  holdEverythingButRepairs,
  holdEverythingOfMoco,
  holdUnfinished,
  holdUntouchable,
  snapshotImpossible,
} from './holds.ts';
import { lowerPartition, notYetReplaced } from './lower-partition.ts';
import { nobodyRecovers, nobodyServed } from './nobody-served.ts';
import {
  membersDown,
  membersRunning,
  membersUnreachable,
  primaryAway,
  protectedRemains,
  unreachableRemains,
} from './not-participating.ts';
import { nothingDue } from './nothing-due.ts';
import { healthyReplicas, membersImpaired, primaryLast, updatedMembersSettle } from './participating.ts';
import type { RolloutPolicy } from './policy.ts';
import { recoveringRemains } from './recovering.ts';
import { reports } from './reports.ts';
import { type Outcome, type Situation, survey, take, wait } from './situation.ts';
import type { ClusterSnapshot } from './snapshot.ts';
import { stepFailing } from './step-failing.ts';
import { waitForMoco } from './wait-for-moco.ts';

type Rule = (situation: Situation) => Outcome | null;

/** The whole procedure under OnDelete: the first rule that has something to say ends it. */
const onDelete: readonly Rule[] = [
  (situation) => held(holdUntouchable(situation)),
  takeBackDemotion, // a demotion of ours never outlives its reason, whatever else holds
  handBack, // the user took the cluster back
  withItsStep, // everything stands still
  revisionFails, // a failed update halts
  membersDown, // they do no work: all at once
  (situation) => held(holdEverythingButRepairs(situation)),
  nothingDue,
  fleetHold, // from here on members that work are taken
  membersUnreachable,
  primaryAway, // a failover is waited for
  rolesHold, // from here on a quorum is needed, and somebody who leads it
  membersRunning,
  protectedRemains,
  recoveringRemains,
  unreachableRemains,
  updatedMembersSettle, // one at a time: the last one first
  membersImpaired,
  healthyReplicas,
  primaryLast,
];

/** Partition mode has the same holds; its one step is a lower partition, and the StatefulSet deletes the pods. */
const partition: readonly Rule[] = [
  (situation) => held(holdUntouchable(situation)),
  takeBackDemotion,
  handBack, // it was at OnDelete before
  withItsStep,
  revisionFails,
  nobodyServed,
  (situation) => held(holdEverythingButRepairs(situation)),
  fleetHold,
  nobodyRecovers,
  lowerPartition,
  nothingDue,
  stillAtWork,
];

/** MOCO lowers the partition: nothing is done but to give back what this program still has. */
const observe: readonly Rule[] = [
  (situation) => held(holdUntouchable(situation)),
  takeBackDemotion,
  handBack,
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
 * The one step that may be taken now, or the reason why none is, and what becomes of every member. Pure: the same
 * facts give the same decision. Never throws; facts that can't be are the hold `SnapshotImpossible`.
 */
export function decide(snapshot: ClusterSnapshot, policy: RolloutPolicy): Decision {
  const situation = survey(snapshot, policy);
  const outcome = stepFailing(situation, firstOutcome(situation));
  const stale = situation.members.filter((member) => !member.updated).length;
  return {
    step: outcome?.step ?? { kind: 'none' },
    hold: outcome?.hold ?? null,
    members: reports(situation, outcome),
    stale,
    proven: isProven(situation),
    complete: isComplete(situation, stale),
    progressDeadlineExceeded: isStuck(situation, stale, outcome?.hold ?? null),
    lookAgainInSeconds: situation.deadlines.soonestSeconds,
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

/** Members that are down need no slot, and what has begun keeps it. */
function fleetHold({ snapshot, overridden, deadlines }: Situation): Outcome | null {
  const { fleetQueue, fleetInterval } = snapshot;
  if (fleetQueue !== null && !overridden.has('AwaitingFleetSlot')) {
    return wait({ rule: 'AwaitingFleetSlot', ...fleetQueue });
  }
  if (fleetInterval === null || overridden.has('AwaitingFleetInterval')) return null;
  const { flag, seconds, sinceSeconds } = fleetInterval;
  return deadlines.reached(sinceSeconds, seconds) ? null : wait({ rule: 'AwaitingFleetInterval', flag, seconds });
}

function isStuck({ snapshot, policy, deadlines }: Situation, stale: number, hold: Hold | null): boolean {
  if (stale === 0 || (hold !== null && isAskedFor(hold.rule))) return false;
  return deadlines.reached(snapshot.memory.sinceProgressSeconds, policy.progressDeadlineSeconds);
}

/** The StatefulSet has still to replace a member, or that one to settle. */
function stillAtWork(situation: Situation): Outcome | null {
  return held(updatedMemberOwes(situation) ?? notYetReplaced(situation));
}

function rolesHold(situation: Situation): Outcome | null {
  return held(rolesMoving(situation));
}

/** Without a quorum nothing is lost by giving the revision to members that are down, once it has had its time. */
function revisionFails(situation: Situation): Outcome | null {
  const hold = failingRevision(situation);
  if (hold === null) return null;
  const { deadlines, snapshot, policy, participating, majority } = situation;
  const quorumLost = participating < majority;
  const timeIsUp =
    quorumLost && deadlines.reached(snapshot.memory.sinceProgressSeconds, policy.progressDeadlineSeconds);
  return (timeIsUp && policy.mode === 'OnDelete' ? membersDown(situation) : null) ?? wait(hold);
}

function isComplete(situation: Situation, stale: number): boolean {
  const { snapshot, members, missing } = situation;
  return (
    stale === 0 &&
    missing.length === 0 &&
    snapshot.statefulSet?.observed === true &&
    !snapshot.statefulSet.deleting &&
    snapshotImpossible(situation) === null &&
    holdUnfinished(situation) === null &&
    members.every((member) => member.state === 'participating')
  );
}
