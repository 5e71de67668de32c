import { roleLabel, rolePrimary, roleReplica } from '../../../src/moco/names.ts';
import { budgetMaxUnavailable } from './decisions.ts';
import { backupCronJobName, clusterLabels, jobLabels, prefixedName } from './names.ts';
import type { MySQLCluster } from './objects.ts';
import { ownedBy } from './stateful-set.ts';
import type { Body } from './write.ts';

function metadata(cluster: MySQLCluster, name: string): Body {
  return {
    name,
    namespace: cluster.metadata.namespace,
    labels: clusterLabels(cluster.metadata.name),
    ownerReferences: [ownedBy(cluster)],
  };
}

function servicePort(name: string, port: number): Body {
  return { name, port, protocol: 'TCP', targetPort: name };
}

const clientPorts = [servicePort('mysql', 3306), servicePort('mysqlx', 33_060)];

export function serviceAccountBody(cluster: MySQLCluster): Body {
  return { apiVersion: 'v1', kind: 'ServiceAccount', metadata: metadata(cluster, prefixedName(cluster.metadata.name)) };
}

/** The headless one by which members find each other, then the two by which clients reach a role. */
export function serviceBodies(cluster: MySQLCluster): readonly { readonly name: string; readonly body: Body }[] {
  const prefix = prefixedName(cluster.metadata.name);
  const labels = clusterLabels(cluster.metadata.name);
  const service = (name: string, spec: Body): { name: string; body: Body } => ({
    name,
    body: { apiVersion: 'v1', kind: 'Service', metadata: metadata(cluster, name), spec },
  });
  return [
    service(prefix, {
      clusterIP: 'None',
      type: 'ClusterIP',
      publishNotReadyAddresses: true,
      selector: labels,
      ports: [...clientPorts, servicePort('mysql-admin', 33_062)],
    }),
    service(`${prefix}-primary`, { selector: { ...labels, [roleLabel]: rolePrimary }, ports: clientPorts }),
    service(`${prefix}-replica`, { selector: { ...labels, [roleLabel]: roleReplica }, ports: clientPorts }),
  ];
}

/** Half of the members may be unavailable; none while a backup runs. `null` if MOCO has no budget. */
export function budgetBody(cluster: MySQLCluster, backupRuns: boolean): Body | null {
  const { replicas, offline } = cluster.spec;
  const maxUnavailable = offline === true ? null : budgetMaxUnavailable(replicas, backupRuns);
  if (maxUnavailable === null) {
    return null;
  }
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: metadata(cluster, prefixedName(cluster.metadata.name)),
    spec: { maxUnavailable, selector: { matchLabels: clusterLabels(cluster.metadata.name) } },
  };
}

/**
 * The CronJob of backups, suspended, since no backup can run here: a test creates Jobs from it, and lists them in
 * `status.active` if they are scheduled ones.
 * `null` without a backup policy.
 */
export function backupCronJobBody(cluster: MySQLCluster): Body | null {
  if (cluster.spec.backupPolicyName === undefined) {
    return null;
  }
  const labels = jobLabels(cluster.metadata.name);
  return {
    apiVersion: 'batch/v1',
    kind: 'CronJob',
    metadata: { ...metadata(cluster, backupCronJobName(cluster.metadata.name)), labels },
    spec: {
      schedule: '0 0 * * *',
      suspend: true,
      jobTemplate: {
        metadata: { labels },
        spec: {
          template: {
            metadata: { labels },
            spec: { restartPolicy: 'Never', containers: [{ name: 'backup', image: 'example/backup:1' }] },
          },
        },
      },
    },
  };
}
