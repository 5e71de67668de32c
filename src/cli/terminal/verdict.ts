import type { RolloutSpec } from '../../api/rollout.ts';
import type { MemberStatus } from '../../api/rollout-status.ts';
import type { VerdictKind } from '../../core/decision.ts';

/** A member's verdict in words for the end of its line. `seconds` is how long this rollout made it unavailable. */
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
      return `updated, not ready yet${because}`;
    case 'Next':
      return nextSentence(rule, role) + because;
    case 'Waiting':
      return `waiting for its turn${because}`;
    case 'BelowPartition':
      return `kept back by the partition${because}`;
    case 'Pinned': {
      const reason = spec?.pinnedMembers?.find((pinned) => pinned.ordinal === ordinal)?.reason;
      return reason === undefined ? 'pinned' : `pinned: ${reason}`;
    }
    case 'UpdatedOutOfBand':
      return message === undefined ? 'updated: somebody else has taken its pod' : `updated${because}`;
    case 'Terminating':
      return `terminating${because}`;
    case 'Missing':
      return `its pod does not exist${because}`;
    default:
      // From a newer controller than this program.
      return `${verdict}${because}`;
  }
}

function nextSentence(rule: string | undefined, role: string): string {
  if (rule === undefined) return 'next';
  if (role === 'primary' && rule === 'AwaitingSwitchover') return 'next, once another member is primary';
  return `next, once ${rule} is over`;
}
