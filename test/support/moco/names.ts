/**
 * What MOCO 0.36 calls things, beyond the names that `src/moco/names.ts` already has: only its stand-in needs these.
 */
import {
  appNameLabel,
  appNameOfBackup,
  appNameOfMoco,
  clusterNameLabel,
  createdByLabel,
  createdByMoco,
} from '../../../src/moco/names.ts';

/** The field manager of everything that MOCO applies, and of its Updates too. */
export const mocoManager = 'moco-controller';
export const mocoGroup = 'moco.cybozu.com';
export const mocoApiVersion = `${mocoGroup}/v1beta2`;
export const clusterFinalizer = 'moco.cybozu.com/mysqlcluster';
export const statefulSetWebhook = 'statefulset.kb.io';
export const clusterWebhook = 'mmysqlcluster.kb.io';
export const deleteValidatorPolicy = 'moco-delete-validator';

/** The claim that every MySQLCluster has to have. */
export const dataVolume = 'mysql-data';

/** Labels of every object that belongs to a cluster, and the selector of its StatefulSet and PodDisruptionBudget. */
export function clusterLabels(clusterName: string): Record<string, string> {
  return { [appNameLabel]: appNameOfMoco, [clusterNameLabel]: clusterName, [createdByLabel]: createdByMoco };
}

/** Labels of the CronJob of backups, of its Jobs and of the Job of a restore. */
export function jobLabels(clusterName: string): Record<string, string> {
  return { ...clusterLabels(clusterName), [appNameLabel]: appNameOfBackup };
}

/** StatefulSet, headless Service, PodDisruptionBudget and ServiceAccount of a cluster all have this name. */
export function prefixedName(clusterName: string): string {
  return `moco-${clusterName}`;
}

export function backupCronJobName(clusterName: string): string {
  return `moco-backup-${clusterName}`;
}

/** The number at the end of the name of a StatefulSet's pod; `NaN` for others, such as `preflight-12e4567890123456`. */
export function ordinalOf(podName: string): number {
  return Number(/-(\d{1,4})$/.exec(podName)?.[1]);
}
