import type { Disruption } from './disruption.ts';
import { keepsRevisions } from './held-members.ts';
import type { Law } from './law.ts';
import { isPrimary, isUpdated, isWell, revisionOf } from './member.ts';
import type { Member, Moment } from './moment.ts';

// Members on nodes that are being taken out of service, and what the user wants of them.

export const isOnLeavingNode = ({ leavingNodes }: Moment, { pod }: Member): boolean =>
  leavingNodes.has(pod.spec.nodeName ?? '');

/** The primary is to be moved off its node. */
export function isToBeMoved(moment: Moment, member: Member): boolean {
  const { nodeMaintenance = 'Ignore' } = moment.settings?.spec ?? {};
  return nodeMaintenance !== 'Ignore' && isOnLeavingNode(moment, member);
}

/** A replica is evicted only because of its node: the user asks for that, and its next pod starts at the same revision. */
export function movesOff(moment: Moment, member: Member, { verb }: Disruption): boolean {
  const { currentRevision, updateRevision } = moment.statefulSet?.status ?? {};
  const next = keepsRevisions(moment) ? currentRevision : updateRevision;
  const isAsked = moment.settings?.spec?.nodeMaintenance === 'Evacuate' && isOnLeavingNode(moment, member);
  return verb === 'evict' && isAsked && !isPrimary(moment, member) && revisionOf(member.pod) === next;
}

/** Who may leave a node, and who may not be updated while others do. */
export const lawsOfLeavingNodes: readonly Law[] = [
  {
    name: 'I29',
    sentence: 'a primary was to be moved that is updated, and its node stays or the user does not want that',
    of: ['demote'],
    holds: ({ moment, target }) => !isUpdated(moment, target) || isToBeMoved(moment, target),
  },
  {
    name: 'nodes',
    sentence: 'a member at work was updated on a node that stays while the rollout was to wait for the nodes of others',
    // Which rule is overridden until when is not judged.
    holds: ({ moment, target }) => {
      const { rolloutsDuringMaintenance, overrides = [] } = moment.settings?.spec ?? {};
      if (rolloutsDuringMaintenance !== 'Wait' || overrides.length > 0 || !isWell(moment, target)) return true;
      return isOnLeavingNode(moment, target) || !moment.members.some((one) => isOnLeavingNode(moment, one));
    },
  },
];
