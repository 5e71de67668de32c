import type { Situation } from './situation.ts';

/** A person has approved updating the primary to exactly this revision. */
export function isApproved({ policy, snapshot }: Situation): boolean {
  return isNamed(policy.approvedRevision, snapshot.statefulSet?.updateRevision ?? '');
}

/** By its full name, or by the hash at its end, as the command line shows it. */
function isNamed(approved: string | null, revision: string): boolean {
  return revision !== '' && (approved === revision || approved === revision.slice(revision.lastIndexOf('-') + 1));
}

/** The members that a person wants back at the revision that they had: for this update revision alone. */
export function toRestore({ policy: { restore }, snapshot }: Situation): readonly number[] {
  return restore !== null && isNamed(restore.revision, snapshot.statefulSet?.updateRevision ?? '')
    ? restore.ordinals
    : [];
}

/** What was approved, where it is no revision that the cluster has or is to get: a typing error, as a rule. */
export function unknownApproval({ policy, snapshot, members }: Situation): string | null {
  const { approvedRevision: approved } = policy;
  const known = [snapshot.statefulSet?.currentRevision ?? '', ...members.map(({ facts }) => facts.revision)];
  return known.some((revision) => isNamed(approved, revision)) ? null : approved;
}
