import { toRestore } from './approval.ts';
import { type Evidence, provenForSeconds, stoppedInPlace } from './member.ts';
import type { Member, Situation } from './situation.ts';
import type { ContainerFacts, MemberFacts } from './snapshot.ts';

export interface FailingMember {
  readonly member: number;
  readonly evidence: Evidence;
}

/**
 * A failed update stops the rollout: no other member gets that revision, not even one that is down, which may still
 * come back at the old one. One updated member that has participated for minReadySeconds verifies the revision.
 */
export function failingMember(situation: Situation): FailingMember | null {
  if (isVerified(situation)) return null;
  const [restored] = toRestore(situation);
  if (restored !== undefined) return { member: restored, evidence: { kind: 'restored' } };
  const { takenDown } = situation.snapshot.memory;
  for (const member of situation.members) {
    const works = member.participates && member.unsettled?.for !== 'containers';
    if (!member.updated || works || takenDown.includes(member.ordinal)) continue;
    const evidence = failure(situation, member);
    if (evidence !== null) return { member: member.ordinal, evidence };
  }
  return null;
}

/**
 * An updated member has participated for minReadySeconds: now, or earlier in this rollout. A role that is on its way to
 * another member says nothing of the revision.
 */
export function isVerified({ snapshot, policy, members, deadlines }: Situation): boolean {
  return (
    snapshot.memory.verified ||
    members.some(({ updated, participates, facts }) => {
      const seconds = updated && participates ? provenForSeconds(facts) : null;
      return seconds !== null && deadlines.reached(seconds, policy.minReadySeconds);
    })
  );
}

/** A failure that the revision itself can have caused. A missing node is not the template's fault. */
function failure({ policy, deadlines }: Situation, member: Member): Evidence | null {
  if (member.state === 'terminating' || member.state === 'unreachable') return null;
  const stopped = stoppedInPlace(member.facts) ?? member.crashLoop;
  if (stopped !== null) return stopped;
  if (member.state !== 'down' || member.evidence?.kind === 'unschedulable') return null;
  if (member.evidence?.kind !== 'idle' || hasFailed(member.facts)) return member.evidence;
  return deadlines.reached(member.facts.mysqldIdleForSeconds, policy.progressDeadlineSeconds) ? member.evidence : null;
}

/**
 * mysqld, or an init container before it, has run and failed. If nothing has failed yet, the member is only slow: its
 * node pulls an image or attaches a volume.
 */
function hasFailed({ containers, initContainers }: MemberFacts): boolean {
  return [...initContainers, ...containers.filter(({ part }) => part === 'mysqld')].some(ranAndFailed);
}

function ranAndFailed({ state, reason, restarts }: ContainerFacts): boolean {
  const completed = state === 'terminated' && reason === 'Completed';
  return !completed && (state === 'terminated' || restarts > 0);
}
