import { mistakes } from '../../../hack/explorer/broken.ts';
import { decide as right } from '../../../src/core/decide.ts';
import type { ClusterSnapshot, MemberFacts } from '../../../src/core/snapshot.ts';

type Decide = typeof right;

/** The name of the mistake is in the address that this was loaded under. */
const name = new URL(import.meta.url).searchParams.get('mistake') ?? '';

/** What the kubelet has said last, whoever has lost touch since, and whatever MOCO thinks of the data. */
function readyByContainers(member: MemberFacts): MemberFacts {
  return { ...member, ready: member.containers.every(({ ready }) => ready) };
}

const countsReady: Decide = (snapshot: ClusterSnapshot, policy) =>
  right(
    {
      ...snapshot,
      cluster: { ...snapshot.cluster, errantOrdinals: [] },
      members: snapshot.members.map(readyByContainers),
    },
    policy,
  );

/** The right decision, or that of the explorer's controller with the mistake of that name. */
export const decide: Decide =
  name === 'counts ready instead of participating' ? countsReady : (mistakes[name]?.broken.decide ?? right);
