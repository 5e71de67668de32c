import { cronJobs, jobs } from '../../../src/kube/resource.ts';
import type { ObjectClient } from '../object-client.ts';
import { backupCronJobName } from './names.ts';
import type { CronJob, KubernetesObject } from './objects.ts';

/**
 * Creates a Job as `kubectl create job --from=cronjob/…` does, of a cluster with a `backupPolicyName`. No controller sees to
 * it (KEP-4368): it has no pod and is active until it is completed or removed.
 */
async function createBackupJob(
  client: ObjectClient,
  namespace: string,
  clusterName: string,
  name: string,
): Promise<KubernetesObject> {
  const from = backupCronJobName(clusterName);
  const { metadata, spec } = await client.get<CronJob>(cronJobs, { namespace, name: from });
  const { metadata: template, spec: jobSpec } = spec.jobTemplate;
  const body = {
    metadata: {
      name,
      annotations: { ...template?.annotations, 'cronjob.kubernetes.io/instantiate': 'manual' },
      labels: template?.labels,
      ownerReferences: [{ apiVersion: 'batch/v1', kind: 'CronJob', name: from, uid: metadata.uid, controller: true }],
    },
    spec: { ...jobSpec, managedBy: 'moco-rollout.io/nobody' },
  };
  return client.create<KubernetesObject>(jobs, { namespace }, body);
}

/** Begins a scheduled backup: such a Job, which the CronJob's status lists. Resolves to a function that ends it. */
export async function beginBackup(
  client: ObjectClient,
  namespace: string,
  clusterName: string,
): Promise<() => Promise<void>> {
  const name = backupCronJobName(clusterName);
  const job = await createBackupJob(client, namespace, clusterName, `${name}-1`);
  const { name: jobName, uid } = job.metadata;
  const setActive = (active: readonly object[]): Promise<unknown> =>
    client.merge(cronJobs, { namespace, name, subresource: 'status' }, { status: { active } });
  await setActive([{ apiVersion: 'batch/v1', kind: 'Job', namespace, name: jobName, uid }]);
  return async () => {
    await client.remove(jobs, { namespace, name: jobName }, { propagationPolicy: 'Background' });
    await setActive([]);
  };
}
