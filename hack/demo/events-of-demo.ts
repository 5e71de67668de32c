import type { Told } from '../../src/cli/terminal/live.ts';
import type { ClusterView, MemberView } from '../../src/cli/terminal/view.ts';

/** For output into a pipe: one short line for each event. */
export function eventsOf({ name, phase, replicas, primary, hold, members }: ClusterView): readonly Told[] {
  const isDone = phase === 'UpToDate';
  // What an updated member does comes before the next step, which waited for it.
  const inOrder = members.toSorted((one, other) => Number(other.updated) - Number(one.updated));
  return [
    ...(isDone ? [] : [{ key: 'rollout', text: `${name} rolls out` }, ...inOrder.flatMap(eventsOfMember)]),
    ...(primary === null ? [] : [{ key: 'primary', text: `${primary} is the primary` }]),
    ...(hold !== null && shown.has(hold.rule) ? [{ key: 'hold', text: `${hold.rule}: ${hold.message}` }] : []),
    ...(isDone ? [{ key: 'rollout', text: `${name} is up to date: all ${replicas} members` }] : []),
  ];
}

/** The holds to show. Other holds would only repeat the lines about members. */
const shown: ReadonlySet<string> = new Set(['AwaitingSwitchover', 'UpdateRevisionFailing']);

function eventsOfMember(member: MemberView): readonly Told[] {
  const event = eventOf(member);
  return event === null ? [] : [{ key: member.name, text: `${member.name} ${event}` }];
}

/** `null` for a member that the rollout has not reached, and for a failure, which the hold reports. */
function eventOf({ state, updated, ending }: MemberView): string | null {
  if (ending !== null) return `is ${ending}`;
  if (!updated || state === 'down') return null;
  return state === 'participating' ? 'works at the new revision' : 'starts at the new revision';
}
