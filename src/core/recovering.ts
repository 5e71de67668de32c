import type { Hold } from './decision.ts';
import { dueMembers, type Member, type Outcome, type Situation, wait } from './situation.ts';

/**
 * How long a member may take from its startup probe to its readiness: MOCO configures it within a pass, and without an
 * event of Kubernetes that begins at its next tick, which comes once a minute (MOCO 0.36, clustering/manager.go).
 */
const catchUpSeconds = 90;

/**
 * mysqld has started and its startup probe has not passed since: mysqld is probably recovering from a crash. MOCO
 * allows `spec.startupWaitSeconds` for that, an hour by default, and a restart would make it begin again. So the member
 * is left alone, but not for longer than progressDeadlineSeconds: then a restart may help. Once the startup probe has
 * passed, MOCO makes it follow the primary, and it catches up.
 */
export function awaitingRecovery({ policy, deadlines }: Situation, { ordinal, state, facts }: Member): Hold | null {
  const mysqld = facts.containers.find(({ part }) => part === 'mysqld');
  if (state !== 'running' || mysqld?.state !== 'running') return null;
  const graceSeconds = mysqld.started ? catchUpSeconds : policy.progressDeadlineSeconds;
  const sinceSeconds = mysqld.started ? facts.mysqldStartedForSeconds : mysqld.notReadyForSeconds;
  return deadlines.reached(sinceSeconds, graceSeconds)
    ? null
    : { rule: 'AwaitingRecovery', member: ordinal, graceSeconds };
}

export const isRecovering = (situation: Situation, member: Member): boolean =>
  awaitingRecovery(situation, member) !== null;

/** No member that works may go while these are unavailable. */
export function recoveringRemains(situation: Situation): Outcome | null {
  const next = dueMembers(situation).findLast((member) => isRecovering(situation, member));
  const hold = next ? awaitingRecovery(situation, next) : null;
  return hold ? wait(hold) : null;
}
