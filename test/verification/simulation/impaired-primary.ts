import { isPrimary, isWell, participates } from '../witness/member.ts';
import type { Simulation } from './simulation.ts';

/** Notes a container of a primary that works, and is stuck or has not been ready for a minute. */
export function noteImpairedPrimary({ moment, situations, moco }: Simulation): void {
  const primary = moment.members.find((member) => isPrimary(moment, member));
  if (primary === undefined || moment.members.length < 2) return;
  if (!participates(moment, primary) || isWell(moment, primary)) return;
  situations.find('impairedPrimary');
  const { primaryUpdatePolicy, pinnedMembers = [] } = moment.settings?.spec ?? {};
  const isLagging = Object.keys(moco.faults.lagSeconds).length > 0;
  if (primaryUpdatePolicy === 'Manual' || pinnedMembers.length > 0 || isLagging) {
    situations.find('impairedPrimaryMayNotGo');
  }
}
