import { agentContainer, mysqldContainer } from '../../../src/moco/names.ts';
import { type Law, others, participating } from './law.ts';
import { isPrimary, isResizeRefused, isWell, replicasOf } from './member.ts';
import type { Member } from './moment.ts';

const defaultMinReadySeconds = 5;
/** Timestamps of objects have whole seconds. */
const inexactMilliseconds = 1_000;
/** A resize that the kubelet does not make keeps no other member for longer. */
const resizeLimitMilliseconds = 299_000;

/** What a change of a running pod can break. */
export const lawsInPlace: readonly Law[] = [
  {
    name: 'I17',
    sentence:
      'containers restarted in place where the member did not work, another one was away, or the primary had to move',
    holds: (given) => {
      const { moment, target, disruption } = given;
      if (disruption.verb !== 'restartInPlace') return true;
      const agent = disruption.containers?.includes(agentContainer) === true;
      const mayStayPrimary = !agent || moment.settings?.spec?.inPlace?.primary === 'InPlace';
      const moves = replicasOf(moment) > 1 && isPrimary(moment, target) && !mayStayPrimary;
      return (
        disruption.containers?.includes(mysqldContainer) !== true &&
        isWell(moment, target) &&
        participating(given).length === replicasOf(moment) - 1 &&
        !moves
      );
    },
  },
  {
    name: 'I17',
    sentence: 'a member was resized while another one was, or had just been',
    of: ['resize'],
    holds: (given) => {
      const { minReadySeconds = defaultMinReadySeconds } = given.moment.settings?.spec ?? {};
      const { atMilliseconds: now } = given.moment;
      const pause = minReadySeconds * 1000 - inexactMilliseconds;
      return others(given).every(
        (member) =>
          (!isBeingResized(member, now) || isResizeRefused(member)) &&
          (member.resizedAt === null || now - member.resizedAt >= pause),
      );
    },
  },
  {
    name: 'I21',
    sentence: 'a container of a primary was restarted in place, and its Service had no endpoint meanwhile',
    of: ['restartInPlace'],
    holds: ({ moment, target }) =>
      replicasOf(moment) < 2 || !isPrimary(moment, target) || moment.settings?.spec?.inPlace?.primary === 'InPlace',
  },
];

const isBeingResized = ({ resizingSince }: Member, now: number): boolean =>
  resizingSince !== null && now - resizingSince < resizeLimitMilliseconds;
