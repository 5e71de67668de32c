import type { Hold } from './decision.ts';
import type { Member, Situation } from './situation.ts';

/** A person has said that the primary may be updated to this very revision. */
export function isApproved({ policy, snapshot }: Situation): boolean {
  return policy.approvedRevision !== null && policy.approvedRevision === snapshot.statefulSet?.updateRevision;
}

/** With `primaryUpdatePolicy: Manual` the write outage of the switchover comes when a person wants it. */
export function awaitingApproval(situation: Situation, { ordinal }: Member): Hold | null {
  const { policy, snapshot } = situation;
  if (policy.primaryUpdatePolicy === 'Automatic' || isApproved(situation)) return null;
  return { rule: 'AwaitingApproval', member: ordinal, revision: snapshot.statefulSet?.updateRevision ?? '' };
}

/** A replica must not be older than its source, and a held one would be; those below the partition are meant to be. */
export function primaryWaitsForHeld({ members, policy, overridden }: Situation, { ordinal }: Member): Hold | null {
  if (overridden.has('PrimaryWaitsForHeld')) return null;
  const held = members.filter((member) => member.held && !member.updated && member.ordinal >= policy.partition);
  return held.length > 0
    ? { rule: 'PrimaryWaitsForHeld', member: ordinal, held: held.map((member) => member.ordinal) }
    : null;
}
