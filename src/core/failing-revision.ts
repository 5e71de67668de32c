import type { Hold } from './decision.ts';
import type { Evidence } from './member.ts';
import type { Member, Situation } from './situation.ts';
import type { ContainerFacts, MemberFacts } from './snapshot.ts';

/**
 * A failed update halts: nobody else gets that revision, not even a member that is down, which may still come back
 * with the old one. One updated member that has participated for minReadySeconds acquits the revision.
 */
export function failingRevision(situation: Situation): Hold | null {
  if (isProven(situation) || situation.overridden.has('UpdateRevisionFailing')) return null;
  const { takenDown } = situation.snapshot.memory;
  for (const member of situation.members) {
    if (!member.updated || member.participates || takenDown.includes(member.ordinal)) continue;
    const evidence = failure(situation, member);
    if (evidence !== null) return { rule: 'UpdateRevisionFailing', member: member.ordinal, evidence };
  }
  return null;
}

/** An updated member is settled and has participated for minReadySeconds: now, or earlier in this rollout. */
export function isProven({ snapshot, members }: Situation): boolean {
  return snapshot.memory.proven || members.some((member) => member.updated && member.owes === null);
}

/** What the revision itself can have caused; a node that isn't found is nobody's template. */
function failure({ policy, deadlines }: Situation, member: Member): Evidence | null {
  if (member.state === 'leaving' || member.state === 'unreachable') return null;
  if (member.crashLoop !== null) return member.crashLoop;
  if (member.state !== 'down' || member.evidence?.kind === 'unschedulable') return null;
  if (member.evidence?.kind !== 'idle' || hasFailed(member.facts)) return member.evidence;
  return deadlines.reached(member.facts.mysqldIdleForSeconds, policy.progressDeadlineSeconds) ? member.evidence : null;
}

/**
 * mysqld, or an init container before it, has run and failed. A member in which nothing has failed yet is only slow: its
 * node pulls an image or attaches a volume, which takes what it takes.
 */
function hasFailed({ containers, initContainers }: MemberFacts): boolean {
  return [...initContainers, ...containers.filter(({ part }) => part === 'mysqld')].some(ranAndFailed);
}

function ranAndFailed({ state, reason, restarts }: ContainerFacts): boolean {
  const completed = state === 'terminated' && reason === 'Completed';
  return !completed && (state === 'terminated' || restarts > 0);
}
