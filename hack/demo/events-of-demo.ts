import type { Told } from '../../src/cli/terminal/live.ts';
import type { ClusterView, MemberView } from '../../src/cli/terminal/view.ts';

/** For a pipe: a short line for each event, without anything that an earlier line already said. */
export function eventsOf({ name, phase, updated, replicas, primary, hold, members }: ClusterView): readonly Told[] {
  return [
    { key: 'rollout', text: `${name}: ${phase}, ${updated} of ${replicas} updated` },
    ...members
      .filter(({ state, updated: isNew }) => phase !== 'UpToDate' && (isNew || state !== 'participating'))
      .map((member) => ({ key: member.name, text: `${member.name}: ${does(member)}` })),
    { key: 'primary', text: `primary: ${primary ?? 'none'}` },
    ...(hold !== null && shown.has(hold.rule) ? [{ key: 'hold', text: `${hold.rule}: ${hold.message}` }] : []),
  ];
}

/** The lines about members already contain what these would say. */
const shown: ReadonlySet<string> = new Set(['AwaitingSwitchover', 'UpdateRevisionFailing']);

function does({ state, updated }: MemberView): string {
  const image = updated ? 'new' : 'old';
  switch (state) {
    case 'participating':
      return `works at the ${image} revision`;
    case 'terminating':
      return 'stops';
    case 'missing':
      return 'is created again';
    case 'down':
      return `fails at the ${image} revision`;
    default:
      return `starts at the ${image} revision`;
  }
}
