import { handedOn, replaced, withStatefulSet } from '../expected.ts';
import { plural } from '../sentences.ts';
import { after, asksFor, rule } from './rule.ts';

/**
 * Rules about partitions: either MOCO has yet to lower the partition of the StatefulSet, or the user's `partition`
 * keeps members at their revision.
 */
export const partition = {
  AwaitingMoco: rule<{ readonly partition: number; readonly member: number }>({
    holds: ({ step }) => (step.kind === 'setPartition' ? { partition: step.partition, member: step.partition } : null),
    sentence: ({ partition: to, member }, name) =>
      `waiting for MOCO's partition controller to lower the partition to ${to}, so that ${name(member)} is updated`,
    meaning: "MOCO's own partition controller is about to lower the partition.",
    details: 'The partition controller checks the cluster every 10 to 30 seconds.',
    endedBy: ['MOCO'],
    ends: 'By itself.',
    assumed: after('member', (snapshot, { partition, member }) => {
      const taken = snapshot.members.filter(
        ({ ordinal, revision }) => ordinal === member && revision !== snapshot.statefulSet?.updateRevision,
      );
      return replaced(withStatefulSet(handedOn(snapshot, taken), { partition }), taken);
    }),
  }),
  PartitionReached: rule<{
    readonly partition: number;
    readonly members: readonly number[];
    readonly pinned: readonly number[];
  }>({
    holds: (asked) => {
      const { policy, members } = asked.situation;
      const kept = asksFor(asked, 'ends')
        ? members.some(({ due }) => due)
          ? []
          : members.filter(({ updated }) => !updated)
        : asked.members.filter((member) => member.pinned && !member.updated);
      if (kept.length === 0) return null;
      const ordinals = (pinned: boolean): readonly number[] =>
        kept.filter((member) => member.pinned === pinned).map(({ ordinal }) => ordinal);
      return { partition: policy.partition, members: ordinals(false), pinned: ordinals(true) };
    },
    sentence: ({ partition, members, pinned }, name) =>
      [
        ...(members.length > 0
          ? [`partition ${partition} keeps ${members.map(name).join(', ')} at the previous revision`]
          : []),
        ...(pinned.length > 0
          ? [`${pinned.map(name).join(', ')} ${plural(pinned, 'is', 'are')} pinned to the previous revision`]
          : []),
      ].join('; '),
    meaning: 'Only members that are pinned or below `partition` are stale.',
    endedBy: ['a person'],
    ends: 'Lower `partition` in the MySQLRollout, or run `kubectl moco-rollout unpin POD`.',
    requestedBy: '`partition` or `pinnedMembers`',
    phase: 'PartitionReached',
    assumed: null,
  }),
};
