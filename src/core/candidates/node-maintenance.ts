import { keepsRevisions } from '../adoption.ts';
import type { ProcedureLine } from '../decision.ts';
import { keptBecause } from '../lost-members.ts';
import { movesPrimaryOff } from '../node-maintenance.ts';
import { descending, type Member, type Situation, target } from '../situation.ts';
import { markOfLeavingNode } from '../step.ts';

// Which member leaves its node, if the node is being taken out of service and the setting `nodeMaintenance` asks for
// that. Due replicas are not covered here, because their update moves them anyway.

/** A drain would evict the primary's pod, and MOCO would have only the pod's grace period for the switchover. */
export const leavingPrimary: ProcedureLine = {
  takes:
    'the primary, if its node is being taken out of service and `nodeMaintenance` is Switchover or Evacuate: demote',
  candidates: (situation) => {
    const { primary } = situation;
    if (primary === null || primary.state === 'terminating' || !movesPrimaryOff(situation, primary)) return [];
    return [{ kind: 'demote', rule: 'NodeLeaving', targets: [target(primary)], mark: markOfLeavingNode }];
  },
  yields: true,
  beside: true,
};

export const leavingReplicas: ProcedureLine = {
  takes:
    'a working replica whose node is being taken out of service, with `nodeMaintenance: Evacuate`, if its next pod starts at the same revision: evict, one',
  candidates: (situation) => {
    const { members, policy } = situation;
    if (policy.nodeMaintenance !== 'Evacuate') return [];
    const leaving = members.filter(
      (member) => member.facts.leaving !== null && member.state === 'participating' && !member.primary,
    );
    return descending(leaving)
      .filter((member) => keepsItsRevision(situation, member))
      .map((member) => ({ kind: 'evict', rule: 'NodeLeaving', targets: [target(member)] }));
  },
  beside: true,
};

/**
 * Whether the next pod of the member starts at the revision that the member has now, no matter when the pod is created.
 * A stale member is treated as if a drain evicted its pod: the member keeps its revision as long as something blocks
 * its update.
 */
function keepsItsRevision(situation: Situation, member: Member): boolean {
  const { statefulSet } = situation.snapshot;
  if (member.updated) return true;
  const startsAtItsOwn = keepsRevisions(statefulSet) && statefulSet?.currentRevision === member.facts.revision;
  return startsAtItsOwn && keptBecause(situation, { ordinal: member.ordinal, member }) !== null;
}
