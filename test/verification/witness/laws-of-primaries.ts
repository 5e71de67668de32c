import { type Law, others, takingPods } from './law.ts';
import { crashes, isPrimary, isUpdated, participates, replicasOf, runs, updateRevisionOf } from './member.ts';
import type { Moment } from './moment.ts';
import { isServed } from './observed-effects.ts';

/** What can cost a cluster its primary, or what a failover needs. */
export const lawsOfPrimaries: readonly Law[] = [
  {
    name: 'I20',
    sentence: 'a running replica was restarted while nobody served as primary',
    of: takingPods,
    holds: ({ moment, target }) =>
      replicasOf(moment) < 2 || isPrimary(moment, target) || !runs(target) || crashes(target) || isServed(moment),
  },
  {
    name: 'I22',
    sentence: 'a primary at work was taken without approval, or beside a replica that is pinned to an older revision',
    of: takingPods,
    holds: (given) => {
      const { moment, target } = given;
      if (replicasOf(moment) < 2 || !isPrimary(moment, target) || !participates(moment, target)) return true;
      const { partition = 0, pinnedMembers = [] } = moment.settings?.spec ?? {};
      const older = others(given).filter((one) => !isUpdated(moment, one) && one.ordinal >= partition);
      return isApproved(moment) && !older.some((one) => pinnedMembers.some(({ ordinal }) => ordinal === one.ordinal));
    },
  },
];

/** By the full name of the revision, or by the hash at its end. */
function isApproved(moment: Moment): boolean {
  const { primaryUpdatePolicy, approvedRevision = '' } = moment.settings?.spec ?? {};
  const revision = updateRevisionOf(moment);
  const names = [revision, revision.slice(revision.lastIndexOf('-') + 1)];
  return primaryUpdatePolicy !== 'Manual' || names.includes(approvedRevision);
}
