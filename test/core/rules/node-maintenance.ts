import type { leavingPrimary, nodeMaintenance } from '../../../src/core/rules/node-maintenance.ts';
import { stale, three } from '../cluster-builder.ts';
import { member } from '../member-builder.ts';
import { evicts, movesOff, when } from '../table.ts';
import { type Examples, held } from './example.ts';

const waits = { rolloutsDuringMaintenance: 'Wait' } as const;

export const examples: Examples<keyof typeof leavingPrimary | keyof typeof nodeMaintenance> = {
  NoReplicaElsewhere: {
    applies: held(
      three(member(0).onCordonedNode(), member(1).onCordonedNode()),
      { member: 0, next: 1 },
      { nodeMaintenance: 'Switchover' },
    ),
    says: 'the node of moco-test-1, to which MOCO would move the primary moco-test-0, is being taken out of service',
    justDoesNot: when(three(member(0).onCordonedNode(), member(2).onCordonedNode()), movesOff(0), {
      nodeMaintenance: 'Switchover',
    }),
    alsoSays: [
      { member: 2, next: 0 },
      'the node of moco-test-0, to which MOCO would move the primary moco-test-2, is being taken out of service',
    ],
  },
  AwaitingNodeMaintenance: {
    applies: held(
      stale().but({ nodesLeaving: { names: ['n-7', 'n-8'], overForSeconds: 0 } }),
      { nodes: ['n-7', 'n-8'] },
      waits,
    ),
    says: 'nodes n-7, n-8 are being taken out of service',
    justDoesNot: when(
      stale()
        .members(member(1).stale().onCordonedNode())
        .but({ nodesLeaving: { names: ['n-1'], overForSeconds: 0 } }),
      evicts('ReplicaHealthy', 1),
      waits,
    ),
    alsoSays: [
      { nodes: [] },
      'no more nodes are being taken out of service; the rollout waits 10 minutes for the next one',
    ],
  },
};
