import { type EndingClaim, freshSeconds, type TiedToNode } from './comeback-reading.ts';
import { plural, withoutFullStop } from './sentences.ts';
import type { Member, Situation } from './situation.ts';
import type { MemberFacts } from './snapshot.ts';

/**
 * The claims whose data the end of the pod destroys. A pod that no node takes mounts nothing: where its claim is missing, the
 * StatefulSet controller makes another one anyway. Of any other one the kubelet may have mounted the volume, whatever runs.
 */
export const endingClaims = ({ comeback, unschedulable }: MemberFacts): readonly EndingClaim[] =>
  (comeback?.claims ?? []).filter(({ state }) => state === 'terminating' || unschedulable === null);

export const explainClaim = ({ name, state }: EndingClaim): string =>
  state === 'terminating'
    ? `its claim ${name} is being deleted and goes with the pod`
    : `its claim ${name} does not exist any more`;

/** While a reading holds a step, it is read again once it is too old. */
export function readAgain({ deadlines }: Situation, { facts: { comeback } }: Member): void {
  if (comeback !== null) deadlines.reached(comeback.ageSeconds, freshSeconds);
}

export const explainTied = ({ nodeName, refusals, ties }: TiedToNode): string =>
  `its node ${nodeName} ${refusals.join(' and ')}, and ` +
  (ties.length === 0
    ? 'no other node takes pods'
    : `${ties.join(' and ')} ${plural(ties, 'allows', 'allow')} no other node that takes pods`);

export const explainRefusal = (member: string, message: string): string =>
  `the API server would not admit another pod of ${member}: ${withoutFullStop(message)}`;

/** Why the member would not come back as what it is, each a sentence without a full stop. For people. */
export const obstacles = (facts: MemberFacts): readonly string[] => {
  const { name, comeback } = facts;
  return [
    ...endingClaims(facts).map((claim) => `${name} would lose its data with its pod: ${explainClaim(claim)}`),
    ...(comeback?.tied ? [`another pod of ${name} would stay Pending: ${explainTied(comeback.tied)}`] : []),
    ...(comeback?.refusal ? [explainRefusal(name, comeback.refusal)] : []),
  ];
};
