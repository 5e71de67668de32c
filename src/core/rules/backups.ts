import { openBudgets } from '../expected.ts';
import { withoutFullStop } from '../sentences.ts';
import type { Situation } from '../situation.ts';
import { after, rule } from './rule.ts';

/** A backup that takes longer has probably failed to end because its pod does not end. */
const longestBackupHours = 6;

type RunningBackup =
  /** The Job that has been active for the longest time. */
  | { readonly job: string; readonly startedAt: string; readonly restores?: true; readonly overdueHours?: number }
  /** The PodDisruptionBudget that is closed although no Job was found. */
  | { readonly budget: string };

/** Backups and restores read from a member or write to it. They start over when it stops. */
export const backups = {
  BackupRunning: rule<RunningBackup>({
    holds: ({ situation }) => runningBackup(situation),
    sentence: (hold) => {
      if ('budget' in hold) {
        return `PodDisruptionBudget ${hold.budget} allows no disruption, as MOCO sets it while a backup runs`;
      }
      const { job, startedAt, restores, overdueHours: hours } = hold;
      return (
        `${restores ? 'restore' : 'backup'} Job ${job}, which started at ${startedAt}, has not ended` +
        (hours === undefined
          ? ''
          : ` within ${hours} hours: check whether its pod still works, or whether another container such as the proxy of a service mesh keeps it running`)
      );
    },
    meaning: 'A backup is running, and a disruption could interrupt it.',
    details: `Jobs with MOCO's labels count, no matter who created them. A Job is active until it is Complete or Failed, unless it is suspended. The Job of a restore counts as well. Without such a Job, MOCO's closed PodDisruptionBudget counts. While a backup that MOCO has scheduled runs in a cluster of three or more members, MOCO's budget allows no eviction: overriding this rule lets members that do not participate be replaced, and \`BlockedByPDB\` still holds the others. After ${longestBackupHours} hours the message says how long the Job has been running.`,
    endedBy: ['time', 'a person'],
    ends: 'By itself, when the backup is done. If its Job does not end, `kubectl describe job JOB` shows its pod. Delete a Job that no longer makes progress.',
    overridable: true,
    assumed: after('moment', (snapshot) => ({ ...snapshot, backupJobs: [], budgets: openBudgets(snapshot) })),
  }),
  BackupsUnreadable: rule<{ readonly message: string }>({
    holds: ({ situation: { snapshot } }) =>
      snapshot.backupsUnreadable === null ? null : { message: snapshot.backupsUnreadable },
    sentence: ({ message }) =>
      `the controller cannot read Jobs, and the cluster has a backup policy: ${withoutFullStop(message)}`,
    meaning: 'The controller cannot read Jobs, so it is unknown whether a backup runs.',
    details:
      'Only clusters with `spec.backupPolicyName` wait: without it there is no CronJob that could start a backup. Members that are down are replaced.',
    endedBy: ['a person'],
    ends: 'By itself within seconds, once they can be read. If a right is missing, apply the roles of this version: `kubectl moco-rollout check` names it.',
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
