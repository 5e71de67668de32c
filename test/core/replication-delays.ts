import type { DelayReading, ReplicationDelay } from '../../src/core/on-demand-facts.ts';
import type { MemberFacts } from '../../src/core/snapshot.ts';

/** A reading of this moment, the first of its kind, unless the ages say otherwise. */
export function delayRead(
  { uid }: Pick<MemberFacts, 'uid'>,
  reading: DelayReading,
  ages: Partial<Omit<ReplicationDelay, 'uid' | 'reading'>> = {},
): ReplicationDelay {
  return { uid, reading, ageSeconds: 0, unknownForSeconds: 0, ...ages };
}

/** Nobody is behind. */
export const noDelays = (members: readonly Pick<MemberFacts, 'uid'>[]): readonly ReplicationDelay[] =>
  members.map((member) => delayRead(member, { kind: 'delay', seconds: 0 }));
