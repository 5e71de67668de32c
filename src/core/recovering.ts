import type { Hold } from './decision.ts';
import { dueMembers, type Member, type Outcome, type Situation, wait } from './situation.ts';

/**
 * mysqld has started and its startup probe has not passed since: mysqld is probably recovering from a crash. MOCO
 * allows `spec.startupWaitSeconds` for that, an hour by default, and a restart would make it begin again. So the member
 * is left alone, but not for longer than progressDeadlineSeconds: then a restart may help.
 */
export function isRecovering({ policy, deadlines }: Situation, { state, facts }: Member): boolean {
  const mysqld = facts.containers.find(({ part }) => part === 'mysqld');
  if (state !== 'running' || mysqld?.state !== 'running' || mysqld.started) return false;
  return !deadlines.reached(mysqld.notReadyForSeconds, policy.progressDeadlineSeconds);
}

export function awaitingRecovery(situation: Situation, member: Member): Hold | null {
  const graceSeconds = situation.policy.progressDeadlineSeconds;
  return isRecovering(situation, member) ? { rule: 'AwaitingRecovery', member: member.ordinal, graceSeconds } : null;
}

/** No member that works may go while these are unavailable. */
export function recoveringRemains(situation: Situation): Outcome | null {
  const next = dueMembers(situation).findLast((member) => isRecovering(situation, member));
  const hold = next ? awaitingRecovery(situation, next) : null;
  return hold ? wait(hold) : null;
}
