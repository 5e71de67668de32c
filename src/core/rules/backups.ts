import { openBudgets } from '../expected.ts';
import { withoutFullStop } from '../sentences.ts';
import type { Situation } from '../situation.ts';
import { after, rule } from './rule.ts';

/** If a backup takes longer than this, it is probably stuck. */
const longestBackupHours = 6;

type RunningBackup =
  /** The Job that has been active longest. */
  | { readonly job: string; readonly startedAt: string; readonly restores?: true; readonly overdueHours?: number }
  /** A PodDisruptionBudget that is closed although no Job was found. */
  | { readonly budget: string };

/** Backups read from a member, and restores write to one. They start over when that member stops. */
export const backups = {
  BackupRunning: rule<RunningBackup>({
    holds: ({ situation }) => runningBackup(situation),
    sentence: (hold) => {
      if ('budget' in hold) {
        return `PodDisruptionBudget ${hold.budget} allows no disruptions; MOCO sets it this way during a backup`;
      }
      const { job, startedAt, restores, overdueHours: hours } = hold;
      return (
        `${restores ? 'restore' : 'backup'} Job ${job}, which started at ${startedAt}, has not ended` +
        (hours === undefined
          ? ''
          : ` within ${hours} hours: check whether its pod still makes progress, or whether another container, such as the proxy of a service mesh, keeps it running`)
      );
    },
    meaning: 'A backup is running, and a disruption could interrupt it.',
    details: `Every Job with MOCO's labels counts as a backup, no matter who created it. The Job of a restore counts as well. A Job is active until it is Complete or Failed, unless it is suspended. Without such a Job, the rule holds while MOCO's own PodDisruptionBudget is closed. While a backup that MOCO has scheduled runs in a cluster of three or more members, MOCO's budget allows no eviction: if you override this rule in that case, members that do not participate are replaced, but \`BlockedByPDB\` still holds the others. After ${longestBackupHours} hours the message says how long the Job has been running.`,
    endedBy: ['time', 'a person'],
    ends: 'By itself, when the backup is done. If its Job does not end, `kubectl describe job JOB` shows its pod. Delete a Job that no longer makes progress.',
    overridable: true,
    assumed: after('moment', (snapshot) => ({ ...snapshot, backupJobs: [], budgets: openBudgets(snapshot) })),
  }),
  BackupsUnreadable: rule<{ readonly message: string }>({
    holds: ({ situation: { snapshot } }) =>
      snapshot.backupsUnreadable === null ? null : { message: snapshot.backupsUnreadable },
    sentence: ({ message }) =>
      `the controller cannot read Jobs (${withoutFullStop(message)}), so a backup may be running`,
    meaning: 'The controller cannot read Jobs, so it is unknown whether a backup is running.',
    details:
      'Only clusters with `spec.backupPolicyName` wait: without it there is no CronJob that could start a backup. Members that are down are replaced without waiting.',
    endedBy: ['a person'],
    ends: 'By itself within seconds, once the controller can read Jobs. If a right is missing, apply the roles of this version: `kubectl moco-rollout check` names it.',
    overridable: true,
    alarms: true,
    assumed: after('moment', (snapshot) => ({ ...snapshot, backupsUnreadable: null })),
  }),
};

function runningBackup({ snapshot, deadlines }: Situation): RunningBackup | null {
  const [oldest] = snapshot.backupJobs.toSorted((a, b) => b.activeForSeconds - a.activeForSeconds);
  if (oldest === undefined) {
    const closed = snapshot.budgets.find((budget) => budget.closed && budget.ofMoco);
    return closed === undefined ? null : { budget: closed.name };
  }
  const { name: job, startedAt, restores, activeForSeconds } = oldest;
  return {
    job,
    startedAt,
    ...(restores && { restores }),
    ...(deadlines.reached(activeForSeconds, longestBackupHours * 3600) && { overdueHours: longestBackupHours }),
  };
}
