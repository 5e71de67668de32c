import { mysqldOf } from './member.ts';
import type { Member, Situation } from './situation.ts';

/**
 * How long a member may take from its startup probe to its readiness: MOCO configures it within a pass, and without an
 * event of Kubernetes that begins at its next tick, which comes once a minute (MOCO 0.36, clustering/manager.go).
 */
const catchUpSeconds = 90;

/**
 * Replicas without a primary become not ready before Kubernetes knows of the primary's node: 27 s after it had lost its
 * power, the primary's pod being ready for another 17 s (seen with Kubernetes 1.36 and MOCO 0.36). The node controller
 * waits for 50 s (kube-controller-manager, --node-monitor-grace-period) and looks every 5 s. So a replica that has just
 * ceased to be ready may be the one that MOCO needs for a failover, whatever the primary's pod says.
 */
const lostPrimarySeconds = 60;

/**
 * mysqld has started and its startup probe has not passed since: mysqld is probably recovering from a crash. A restart
 * would make it begin again, so the member is left alone for as long as the probe allows, which MOCO takes from
 * `spec.startupWaitSeconds`: an hour by default. Then a restart may help. Once the startup probe has passed, MOCO makes
 * it follow the primary, and it catches up. A replica that was ready may have lost its primary.
 *
 * Returns how many seconds it has for that, or `null` if it is not recovering or they are over.
 */
export function recoverySeconds({ policy, deadlines, replicas }: Situation, member: Member): number | null {
  const { state, facts, primary, crashLoop } = member;
  const mysqld = mysqldOf(facts);
  if (state !== 'running' || mysqld?.state !== 'running') return null;
  if (!mysqld.started) {
    const graceSeconds = facts.startupSeconds ?? policy.progressDeadlineSeconds;
    return deadlines.reached(mysqld.notReadyForSeconds, graceSeconds) ? null : graceSeconds;
  }
  if (!deadlines.reached(facts.mysqldStartedForSeconds, catchUpSeconds)) return catchUpSeconds;
  const hasFollowed = facts.role !== null || mysqld.readySinceRestart;
  const mayHaveLostPrimary = !primary && replicas > 1 && !mysqld.ready && hasFollowed && crashLoop === null;
  return mayHaveLostPrimary && !deadlines.reached(mysqld.notReadyForSeconds, lostPrimarySeconds)
    ? lostPrimarySeconds
    : null;
}

export const isRecovering = (situation: Situation, member: Member): boolean =>
  recoverySeconds(situation, member) !== null;
