import { cronJobs, jobs } from '../../../src/kube/resource.ts';
import type { ObjectClient } from '../object-client.ts';
import { backupCronJobName } from './names.ts';
import type { CronJob, KubernetesObject } from './objects.ts';

const priority = 'disrupt' as const;
const mergePatch = 'application/merge-patch+json';

/**
 * Begins a scheduled backup of a cluster, which needs a `backupPolicyName`: creates a suspended Job, which runs for
 * ever and has no pod, and lists it in the CronJob's status. Resolves to a function that ends it.
 */
export async function beginBackup(
  client: ObjectClient,
  namespace: string,
  clusterName: string,
): Promise<() => Promise<void>> {
  const name = backupCronJobName(clusterName);
  const { metadata } = await client.get<CronJob>(cronJobs, { namespace, name }, { priority: 'read' });
  const body = {
    metadata: {
      generateName: `${name}-`,
      ownerReferences: [{ apiVersion: 'batch/v1', kind: 'CronJob', name, uid: metadata.uid, controller: true }],
    },
    spec: {
      suspend: true,
      template: { spec: { restartPolicy: 'Never', containers: [{ name: 'backup', image: 'example/backup:1' }] } },
    },
  };
  const job = await client.create<KubernetesObject>(jobs, { namespace }, body, { priority });
  const { name: jobName, uid } = job.metadata;
  const setActive = (active: readonly object[]): Promise<unknown> =>
    client.patch(
      cronJobs,
      { namespace, name, subresource: 'status' },
      mergePatch,
      { status: { active } },
      { priority },
    );
  await setActive([{ apiVersion: 'batch/v1', kind: 'Job', namespace, name: jobName, uid }]);
  return async () => {
    await client.remove(jobs, { namespace, name: jobName }, { propagationPolicy: 'Background' }, { priority });
    await setActive([]);
  };
}
