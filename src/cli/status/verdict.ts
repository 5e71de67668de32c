import type { MemberStatus, RolloutSpec } from '../../controller/rollout-resource.ts';
import type { VerdictKind } from '../../core/decision.ts';

/** What becomes of a member, in words for the end of its line. */
export function verdictSentence(
  ordinal: number,
  { verdict, rule, message, role }: MemberStatus,
  spec: RolloutSpec | undefined,
  seconds: number | null,
): string {
  const because = message === undefined ? '' : `: ${message}`;
  switch (verdict as VerdictKind) {
    case 'Updated':
      return seconds === null ? 'updated' : `updated in ${Math.round(seconds)} s`;
    case 'Starting':
      return `updated, not done yet${because}`;
    case 'Next':
      return nextSentence(rule, role) + because;
    case 'Waiting':
      return `waits for its turn${because}`;
    case 'KeptBack':
      return `kept back by the partition${because}`;
    case 'Held': {
      const reason = spec?.heldMembers?.find((held) => held.ordinal === ordinal)?.reason;
      return reason === undefined ? 'held' : `held: ${reason}`;
    }
    case 'UpdatedOutOfTurn':
      return 'updated out of turn: it restarted by itself';
    case 'Leaving':
      return 'terminating';
    case 'Missing':
      return 'its pod does not exist';
    default:
      // Of a controller that is newer than this program.
      return `${verdict}${because}`;
  }
}

function nextSentence(rule: string | undefined, role: string): string {
  if (rule === undefined) return 'next';
  if (role === 'primary' && rule === 'AwaitingSwitchover') return 'next, once another member is primary';
  return `next, once ${rule} is over`;
}
