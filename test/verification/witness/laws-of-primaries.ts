import { isApproved } from './held-members.ts';
import { type Case, type Law, others, participating, takingPods } from './law.ts';
import { isPrimary, isUpdated, participates, replicasOf, runs } from './member.ts';
import { isServed, isUnreached } from './observed-effects.ts';

/** What can cost a cluster its primary, or what a failover needs. */
export const lawsOfPrimaries: readonly Law[] = [
  {
    name: 'I20',
    sentence: 'a running replica was restarted while no member served as primary, and none followed one',
    of: takingPods,
    holds: (given) => {
      const { moment, target } = given;
      const isExempt = replicasOf(moment) < 2 || isPrimary(moment, target) || !runs(target);
      return isExempt || isServed(moment) || isFollowed(given);
    },
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
      const mayGo = moment.settings?.spec?.primaryUpdatePolicy !== 'Manual' || isApproved(moment);
      return mayGo && !older.some((one) => pinnedMembers.some(({ ordinal }) => ordinal === one.ordinal));
    },
  },
];

/** MOCO's failover begins by stopping the I/O threads of all replicas, and none of them is ready without. */
function isFollowed(given: Case): boolean {
  if (isUnreached(given.moment)) return false;
  const primary = given.moment.members.find((one) => isPrimary(given.moment, one));
  return primary !== undefined && runs(primary) && participating(given).some((one) => !isPrimary(given.moment, one));
}
