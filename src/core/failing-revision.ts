import type { Hold } from './decision.ts';
import type { Evidence } from './member.ts';
import type { Member, Situation } from './situation.ts';

/**
 * A failed update halts: nobody else gets that revision, not even a member that is down, which may still come back
 * with the old one. One updated member that has participated for minReadySeconds acquits the revision.
 */
export function failingRevision(situation: Situation): Hold | null {
  if (isProven(situation) || situation.overridden.has('UpdateRevisionFailing')) return null;
  const { takenDown } = situation.snapshot.memory;
  for (const member of situation.members) {
    if (!member.updated || member.participates || takenDown.includes(member.ordinal)) continue;
    const evidence = failure(member);
    if (evidence !== null) return { rule: 'UpdateRevisionFailing', member: member.ordinal, evidence };
  }
  return null;
}

/** An updated member is settled and has participated for minReadySeconds: now, or earlier in this rollout. */
export function isProven({ snapshot, members }: Situation): boolean {
  return snapshot.memory.proven || members.some((member) => member.updated && member.owes === null);
}

/** What the revision itself can have caused; a node that isn't found is nobody's template. */
function failure(member: Member): Evidence | null {
  if (member.state === 'leaving' || member.state === 'unreachable') return null;
  if (member.crashLoop !== null) return member.crashLoop;
  return member.state === 'down' && member.evidence?.kind !== 'unschedulable' ? member.evidence : null;
}
