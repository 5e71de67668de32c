import type { partition } from '../../../src/core/rules/by-partition.ts';
import { cluster, stale, three } from '../cluster-builder.ts';
import { member } from '../member-builder.ts';
import { promotes, when } from '../table.ts';
import { type Examples, held } from './example.ts';

export const examples: Examples<keyof typeof partition> = {
  AwaitingMoco: {
    applies: held(stale().atPartition(3), { partition: 2, member: 2 }, { mode: 'MOCO' }),
    says: "waiting for MOCO's partition controller to lower the partition to 2, so that moco-test-2 is updated",
    justDoesNot: when(cluster(3).atPartition(3), 'idle', { mode: 'MOCO' }),
  },
  PartitionReached: {
    applies: held(
      three(member(0).stale(), member(1).stale()),
      { partition: 2, members: [0, 1], pinned: [] },
      { partition: 2 },
    ),
    says: 'partition 2 keeps moco-test-0, moco-test-1 at the previous revision',
    justDoesNot: when(cluster(3).statefulSet({ currentRevision: 'old' }), promotes(3), { partition: 2 }),
    alsoSays: [
      { partition: 0, members: [], pinned: [2] },
      'moco-test-2 is pinned to the previous revision',
      { partition: 1, members: [0], pinned: [1, 2] },
      'partition 1 keeps moco-test-0 at the previous revision; moco-test-1, moco-test-2 are pinned to the previous revision',
    ],
  },
};
