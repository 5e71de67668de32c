import { changed } from '../expected.ts';
import { nextPrimary } from '../node-maintenance.ts';
import { plural } from '../sentences.ts';
import { after, rule } from './rule.ts';

// Rules about nodes that are being taken out of service.

/** How long a rolling upgrade of nodes may pause between two nodes. */
const betweenNodesSeconds = 600;
/** A sentence names at most this many nodes. */
const mostNames = 3;

/** Rules that must not hold when the primary leaves its node. */
export const leavingPrimary = {
  NoReplicaElsewhere: rule<{ readonly member: number; readonly next: number }>({
    holds: ({ situation, step, members: [member] }) => {
      // The primary would move back at once, whatever moves it now.
      if (step.kind !== 'demote' || situation.policy.nodeMaintenance === 'Ignore' || member === undefined) return null;
      const next = nextPrimary(situation);
      return next === null || next.facts.leaving === null ? null : { member: member.ordinal, next: next.ordinal };
    },
    sentence: ({ member, next }, name) =>
      `the node of ${name(next)}, to which MOCO would move the primary ${name(member)}, is being taken out of service`,
    meaning:
      'The primary would move, but the node of the replica that MOCO would choose is being taken out of service.',
    details:
      'MOCO chooses the replica with the lowest ordinal. A switchover to it would soon be followed by a second one. With `nodeMaintenance: Evacuate`, that replica moves first. With `Switchover`, the primary stays until a drain moves one of the two.',
    endedBy: ['Kubernetes', 'moco-rollout'],
    ends: 'By itself, once that replica works on a different node.',
    requestedBy: '`nodeMaintenance`',
    assumed: after('member', (snapshot, { next }) =>
      changed(snapshot, [{ ordinal: next }], (facts) => ({ ...facts, node: null, leaving: null })),
    ),
  }),
};

export const nodeMaintenance = {
  AwaitingNodeMaintenance: rule<{ readonly nodes: readonly string[] }>({
    holds: ({ situation: { snapshot, policy, deadlines }, members }) => {
      const { nodesLeaving } = snapshot;
      if (policy.rolloutsDuringMaintenance === 'Proceed' || nodesLeaving === null) return null;
      if (members.every(({ facts }) => facts.leaving !== null)) return null;
      const { names, overForSeconds } = nodesLeaving;
      return names.length === 0 && deadlines.reached(overForSeconds, betweenNodesSeconds) ? null : { nodes: names };
    },
    sentence: ({ nodes }) =>
      nodes.length === 0
        ? `no more nodes are being taken out of service; the rollout waits ${betweenNodesSeconds / 60} minutes for the next one`
        : `${plural(nodes, 'node', 'nodes')} ${nodes.slice(0, mostNames).join(', ')}${nodes.length > mostNames ? ` and ${nodes.length - mostNames} more` : ''} ${plural(nodes, 'is', 'are')} being taken out of service`,
    meaning:
      'Nodes with members of MySQLClusters are being taken out of service, and a working member on a different node would be updated.',
    details:
      'Members on nodes that are being taken out of service do not wait: their update moves them, so they restart once. The wait also covers the pause between two nodes: it ends ten minutes after the last node. After a start of the controller it lasts at least that long.',
    endedBy: ['Kubernetes', 'time', 'a person'],
    ends: 'By itself, ten minutes after the last node has left service or has been uncordoned. `kubectl get nodes` shows which nodes are cordoned. To continue at once, set `rolloutsDuringMaintenance: Proceed`, or run `kubectl moco-rollout override NAME AwaitingNodeMaintenance`.',
    overridable: true,
    requestedBy: '`rolloutsDuringMaintenance: Wait`',
    assumed: after('requeue', (snapshot) => ({
      ...snapshot,
      nodesLeaving: { names: [], overForSeconds: betweenNodesSeconds },
    })),
  }),
};
