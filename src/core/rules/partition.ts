import { rule } from './rule.ts';

/** The partition of the StatefulSet decides which member is next. */
export const partition = {
  MemberDownOutOfOrder: rule<{
    readonly member: number;
    readonly pod: string;
    /** The member that the partition reaches first. */
    readonly next: number;
    readonly revision: string;
    /** The revision at which the member would come up again. */
    readonly current: string;
  }>({
    sentence: ({ member, pod, next, revision, current }, name) =>
      `${name(member)} does not work, and partitions reach it only after ${name(next)}; \`kubectl delete pod ${pod}\` makes it try again at revision ${current}${current === revision ? '' : ` instead of ${revision}`}`,
    meaning:
      'A stale member is down, or has not participated for longer than a failover takes, and the partition reaches it last.',
    details: 'A StatefulSet replaces its pods from the highest ordinal down.',
    endedBy: ['a person', 'the members'],
    ends: 'Run the command that the message names, or wait until the member recovers.',
    alarms: true,
    phase: 'Failing',
  }),
  AwaitingMoco: rule<{ readonly partition: number; readonly member: number }>({
    sentence: ({ partition: to, member }, name) =>
      `waiting for MOCO's partition controller to lower the partition to ${to}, which reaches ${name(member)}`,
    meaning: "MOCO's own partition controller is about to lower the partition.",
    details: 'It checks every 10 to 30 seconds.',
    endedBy: ['MOCO'],
    ends: 'By itself.',
  }),
};
