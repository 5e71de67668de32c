import { apiVersion, type ResourceKind } from '../../../src/kube/resource.ts';
import { clusterKind } from '../../../src/moco/names.ts';
import type { ObjectClient } from '../object-client.ts';

const backupPolicies: ResourceKind = { ...clusterKind, plural: 'backuppolicies', kind: 'BackupPolicy' };

/** For backups that are not scheduled before next year, and that have no destination. */
export async function createBackupPolicy(client: ObjectClient, namespace: string, name: unknown): Promise<void> {
  const spec = {
    schedule: '0 0 1 1 *',
    jobConfig: {
      serviceAccountName: 'default',
      bucketConfig: { bucketName: 'backups', endpointURL: 'http://127.0.0.1:9' },
      workVolume: { emptyDir: {} },
    },
  };
  const { kind } = backupPolicies;
  const policy = { apiVersion: apiVersion(backupPolicies), kind, metadata: { namespace, name }, spec };
  await client.create(backupPolicies, { namespace }, policy);
}
