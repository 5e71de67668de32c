import type { Hold } from './decision.ts';
import type { Member, Situation } from './situation.ts';

/** A person has approved updating the primary to exactly this revision. */
export function isApproved({ policy, snapshot }: Situation): boolean {
  return isNamed(policy.approvedRevision, snapshot.statefulSet?.updateRevision ?? '');
}

/** By its full name, or by the hash at its end, as the command line shows it. */
function isNamed(approved: string | null, revision: string): boolean {
  return revision !== '' && (approved === revision || approved === revision.slice(revision.lastIndexOf('-') + 1));
}

/** What was approved, where it is no revision that the cluster has or is to get: a typing error, as a rule. */
function unknownApproval({ policy, snapshot, members }: Situation): string | null {
  const { approvedRevision: approved } = policy;
  const known = [snapshot.statefulSet?.currentRevision ?? '', ...members.map(({ facts }) => facts.revision)];
  return known.some((revision) => isNamed(approved, revision)) ? null : approved;
}

/** With `primaryUpdatePolicy: Manual` a person decides when the switchover interrupts writes. */
export function awaitingApproval(situation: Situation, { ordinal }: Member): Hold | null {
  const { policy, snapshot } = situation;
  if (policy.primaryUpdatePolicy === 'Automatic' || isApproved(situation)) return null;
  const revision = snapshot.statefulSet?.updateRevision ?? '';
  const unknown = unknownApproval(situation);
  return { rule: 'AwaitingApproval', member: ordinal, revision, ...(unknown !== null && { unknown }) };
}

/**
 * A replica must not be older than its source. A pinned replica would be, and so it blocks the primary. Members below
 * the partition are meant to be older.
 */
export function primaryWaitsForPinned({ members, policy, overridden }: Situation, { ordinal }: Member): Hold | null {
  if (overridden.has('PrimaryWaitsForPinned')) return null;
  const pinned = members.filter((member) => member.pinned && !member.updated && member.ordinal >= policy.partition);
  return pinned.length > 0
    ? { rule: 'PrimaryWaitsForPinned', member: ordinal, pinned: pinned.map((member) => member.ordinal) }
    : null;
}
