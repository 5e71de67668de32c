import { roleLabel } from '../../../src/moco/names.ts';
import { isReady, isTerminating } from './member.ts';
import type { Member, Moment } from './moment.ts';

/** MOCO's two Services of a cluster, by the role label of the pods that they select. */
export type ServiceRole = 'primary' | 'replica';

/** The Service to whose endpoints a pod belongs: it is ready and labelled. `null` for none. */
export function serviceOf(member: Member): ServiceRole | null {
  const role = member.pod.metadata.labels?.[roleLabel];
  const isEndpoint = isReady(member) && !isTerminating(member) && (role === 'primary' || role === 'replica');
  return isEndpoint ? role : null;
}

/** Whoever connects anew to the primary is let in. */
export function hasPrimaryEndpoint({ members }: Moment): boolean {
  return members.some((member) => serviceOf(member) === 'primary');
}

/** For how long the primary's Service had no endpoint between two times. */
export function millisecondsWithoutPrimaryEndpoint(moments: readonly Moment[], from: number, to: number): number {
  let without = 0;
  moments.forEach((moment, index) => {
    const begins = Math.max(from, moment.atMilliseconds);
    const ends = Math.min(to, moments[index + 1]?.atMilliseconds ?? to);
    if (ends > begins && moment.cluster !== null && !hasPrimaryEndpoint(moment)) without += ends - begins;
  });
  return without;
}
