import {
  annotationOn,
  appNameLabel,
  appNameOfMoco,
  clusterNameLabel,
  createdByLabel,
  createdByMoco,
  forceRollingUpdateAnnotation,
} from '../../../src/moco/names.ts';
import { containers, initContainers } from './containers.ts';
import { clusterLabels, mocoApiVersion, prefixedName } from './names.ts';
import type { MySQLCluster, OwnerReference } from './objects.ts';
import type { Settings } from './settings.ts';
import type { Body } from './write.ts';

const terminationGraceSeconds = 300;
const fileMode = 0o644;
/** Of MOCO's own defaults: the stand-in does not create what is hashed (`my.cnf`, the slow log's template). */
const mysqlConfigurationHash = 'e15970f0';
const slowLogConfigurationHash = '13246250';
const mocoGroupId = 10_000;

/** The one ownerReference of every object of a cluster. */
export function ownedBy(cluster: MySQLCluster): OwnerReference {
  return {
    apiVersion: mocoApiVersion,
    kind: 'MySQLCluster',
    name: cluster.metadata.name,
    uid: cluster.metadata.uid,
    blockOwnerDeletion: true,
    controller: true,
  };
}

/**
 * The body that MOCO applies for a cluster's StatefulSet: always `updateStrategy.type` RollingUpdate and never
 * `rollingUpdate`, which is left to its webhook and its partition controller.
 */
export function statefulSetBody(cluster: MySQLCluster, settings: Settings): Body {
  const { name, namespace, annotations } = cluster.metadata;
  const labels = clusterLabels(name);
  const forced = annotations?.[forceRollingUpdateAnnotation] === annotationOn;
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: {
      name: prefixedName(name),
      namespace,
      labels,
      ...(forced ? { annotations: { [forceRollingUpdateAnnotation]: annotationOn } } : {}),
      ownerReferences: [ownedBy(cluster)],
    },
    spec: {
      replicas: cluster.spec.offline === true ? 0 : cluster.spec.replicas,
      selector: { matchLabels: labels },
      podManagementPolicy: 'Parallel',
      updateStrategy: { type: 'RollingUpdate' },
      serviceName: prefixedName(name),
      template: podTemplate(cluster, settings),
      volumeClaimTemplates: claimTemplates(cluster),
    },
  };
}

/**
 * The MySQLCluster's own templates, each owned by the MySQLCluster, so that its claims are deleted with it. They
 * include the API server's defaults: the list is owned as a whole, and would otherwise always differ.
 */
function claimTemplates(cluster: MySQLCluster): Body[] {
  return cluster.spec.volumeClaimTemplates.map((template) => ({
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    metadata: { ...template.metadata, ownerReferences: [ownedBy(cluster)] },
    spec: { volumeMode: 'Filesystem', ...template.spec },
    status: { phase: 'Pending' },
  }));
}

function podTemplate(cluster: MySQLCluster, settings: Settings): Body {
  const { metadata, spec } = cluster.spec.podTemplate;
  const annotations = metadata?.annotations ?? {};
  return {
    metadata: {
      labels: { ...metadata?.labels, ...clusterLabels(cluster.metadata.name) },
      ...(Object.keys(annotations).length === 0 ? {} : { annotations }),
    },
    spec: {
      ...spec,
      serviceAccountName: prefixedName(cluster.metadata.name),
      terminationGracePeriodSeconds: spec.terminationGracePeriodSeconds ?? terminationGraceSeconds,
      volumes: [...(spec.volumes ?? []), ...volumes(cluster)],
      containers: containers(cluster, settings),
      initContainers: initContainers(cluster, settings),
      securityContext: { fsGroup: mocoGroupId, fsGroupChangePolicy: 'OnRootMismatch', ...spec.securityContext },
      affinity: spec.affinity ?? spreadOverNodes(cluster),
    },
  };
}

function volumes(cluster: MySQLCluster): Body[] {
  const name = cluster.metadata.name;
  const withSlowLog = cluster.spec.disableSlowQueryLogContainer !== true;
  const configMap = (volume: string, configMapName: string): Body => ({
    name: volume,
    configMap: { name: configMapName, defaultMode: fileMode },
  });
  const secret = (volume: string, secretName: string): Body => ({
    name: volume,
    secret: { secretName, defaultMode: fileMode },
  });
  return [
    ...['tmp', 'run', 'var-log', 'mysql-conf-d', 'shared'].map((volume) => ({ name: volume })),
    configMap('mysql-conf', `${prefixedName(name)}.${mysqlConfigurationHash}`),
    secret('my-cnf-secret', `moco-my-cnf-${name}`),
    secret('grpc-cert', `${prefixedName(name)}-grpc`),
    ...(withSlowLog
      ? [configMap('slow-fluent-bit-config', `moco-slow-log-agent-config-${name}.${slowLogConfigurationHash}`)]
      : []),
  ];
}

function spreadOverNodes(cluster: MySQLCluster): Body {
  const has = (key: string, value: string): Body => ({ key, operator: 'In', values: [value] });
  return {
    podAntiAffinity: {
      preferredDuringSchedulingIgnoredDuringExecution: [
        {
          weight: 100,
          podAffinityTerm: {
            labelSelector: {
              matchExpressions: [
                has(appNameLabel, appNameOfMoco),
                has(clusterNameLabel, cluster.metadata.name),
                has(createdByLabel, createdByMoco),
              ],
            },
            topologyKey: 'kubernetes.io/hostname',
          },
        },
      ],
    },
  };
}
