import { mysqldOf } from './member.ts';
import type { Member, Situation } from './situation.ts';

/**
 * How long a member may take from its startup probe to its readiness: MOCO configures it within a pass, and without an
 * event of Kubernetes that begins at its next tick, which comes once a minute (MOCO 0.36, clustering/manager.go).
 */
const catchUpSeconds = 90;

/**
 * mysqld has started and its startup probe has not passed since: mysqld is probably recovering from a crash. A restart
 * would make it begin again, so the member is left alone for as long as the probe allows, which MOCO takes from
 * `spec.startupWaitSeconds`: an hour by default. Then a restart may help. Once the startup probe has passed, MOCO makes
 * it follow the primary, and it catches up.
 *
 * Returns how many seconds it has for that, or `null` if it is not recovering or they are over.
 */
export function recoverySeconds({ policy, deadlines }: Situation, { state, facts }: Member): number | null {
  const mysqld = mysqldOf(facts);
  if (state !== 'running' || mysqld?.state !== 'running') return null;
  const graceSeconds = mysqld.started ? catchUpSeconds : (facts.startupSeconds ?? policy.progressDeadlineSeconds);
  const sinceSeconds = mysqld.started ? facts.mysqldStartedForSeconds : mysqld.notReadyForSeconds;
  return deadlines.reached(sinceSeconds, graceSeconds) ? null : graceSeconds;
}

export const isRecovering = (situation: Situation, member: Member): boolean =>
  recoverySeconds(situation, member) !== null;
