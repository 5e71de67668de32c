import { agentContainer, mysqldContainer } from '../../../src/moco/names.ts';
import { dataVolume, prefixedName } from './names.ts';
import type { Container, MySQLCluster } from './objects.ts';
import type { Settings } from './settings.ts';

const mocoUser = 10_000;
const probePeriodSeconds = 10;
const defaultStartupWaitSeconds = 3600;

const securityContext = { runAsUser: mocoUser, runAsGroup: mocoUser };
const podNameVariable = { name: 'POD_NAME', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.name' } } };

function mount(name: string, mountPath: string): Readonly<Record<string, unknown>> {
  return { name, mountPath };
}

function port(name: string, containerPort: number): Readonly<Record<string, unknown>> {
  return { name, containerPort, protocol: 'TCP' };
}

function probe(path: string): Readonly<Record<string, unknown>> {
  return { httpGet: { path, port: 'health', scheme: 'HTTP' } };
}

/** Equal requests and limits, as MOCO sets them for its own containers. */
function resources(cpu: string, memory: string): Readonly<Record<string, unknown>> {
  return { requests: { cpu, memory }, limits: { cpu, memory } };
}

function usersMysqld(cluster: MySQLCluster): Container {
  const container = cluster.spec.podTemplate.spec.containers.find(({ name }) => name === mysqldContainer);
  if (container === undefined) {
    throw new Error(
      `expected a container ${mysqldContainer} in spec.podTemplate of ${cluster.metadata.name}, got none`,
    );
  }
  return container;
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** The user's container with what MOCO adds to it. */
function mysqld(cluster: MySQLCluster): Container {
  const source = usersMysqld(cluster);
  const startupWaitSeconds = cluster.spec.startupWaitSeconds ?? defaultStartupWaitSeconds;
  return {
    ...source,
    args: [...listOf(source['args']), '--defaults-file=/etc/mysql/my.cnf'],
    lifecycle: { preStop: { exec: { command: ['sleep', '20'] } } },
    ports: [
      ...listOf(source['ports']),
      port('mysql', 3306),
      port('mysqlx', 33_060),
      port('mysql-admin', 33_062),
      port('health', 9081),
    ],
    startupProbe: {
      ...probe('/healthz'),
      periodSeconds: probePeriodSeconds,
      failureThreshold: Math.max(1, Math.floor(startupWaitSeconds / probePeriodSeconds)),
    },
    livenessProbe: probe('/healthz'),
    readinessProbe: probe('/readyz'),
    volumeMounts: [
      ...listOf(source['volumeMounts']),
      mount('tmp', '/tmp'),
      mount('run', '/run'),
      mount('var-log', '/var/log/mysql'),
      mount('mysql-conf', '/etc/mysql'),
      mount('mysql-conf-d', '/etc/mysql-conf.d'),
      { ...mount('my-cnf-secret', '/mysql-credentials'), readOnly: true },
      mount(dataVolume, '/var/lib/mysql'),
    ],
    securityContext: source['securityContext'] ?? securityContext,
  };
}

function agent(cluster: MySQLCluster, settings: Settings): Container {
  const maxDelaySeconds = cluster.spec.maxDelaySeconds ?? 0;
  return {
    name: agentContainer,
    image: settings.agentImage,
    ...(maxDelaySeconds > 0 ? { args: ['--max-delay', `${maxDelaySeconds}s`] } : {}),
    env: [podNameVariable, { name: 'CLUSTER_NAME', value: cluster.metadata.name }],
    envFrom: [{ secretRef: { name: prefixedName(cluster.metadata.name) } }],
    ports: [port('agent', 9080), port('agent-metrics', 8080)],
    resources: resources('100m', '100Mi'),
    volumeMounts: [
      mount('run', '/run'),
      mount('var-log', '/var/log/mysql'),
      { ...mount('grpc-cert', '/grpc-cert'), readOnly: true },
    ],
    securityContext,
  };
}

function slowLog(settings: Settings): Container {
  return {
    name: 'slow-log',
    image: settings.fluentBitImage,
    resources: resources('100m', '20Mi'),
    volumeMounts: [
      { ...mount('slow-fluent-bit-config', '/fluent-bit/etc'), readOnly: true },
      mount('var-log', '/var/log/mysql'),
    ],
    securityContext,
  };
}

function exporter(collectors: readonly string[], settings: Settings): Container {
  return {
    name: 'mysqld-exporter',
    image: settings.exporterImage,
    args: [
      '--config.my-cnf=/mysql-credentials/mysqld-exporter-my.cnf',
      ...collectors.map((name) => `--collect.${name}`),
    ],
    ports: [port('mysqld-metrics', 9104)],
    resources: resources('200m', '100Mi'),
    volumeMounts: [mount('run', '/run'), { ...mount('my-cnf-secret', '/mysql-credentials'), readOnly: true }],
    securityContext,
  };
}

/** mysqld, agent, slow-log and mysqld-exporter if enabled, then the user's own, in MOCO's order. */
export function containers(cluster: MySQLCluster, settings: Settings): Container[] {
  const collectors = cluster.spec.collectors ?? [];
  const mocos = [
    mysqld(cluster),
    agent(cluster, settings),
    ...(cluster.spec.disableSlowQueryLogContainer === true ? [] : [slowLog(settings)]),
    ...(collectors.length === 0 ? [] : [exporter(collectors, settings)]),
  ];
  const taken = new Set(mocos.map(({ name }) => name));
  return [...mocos, ...cluster.spec.podTemplate.spec.containers.filter(({ name }) => !taken.has(name))];
}

/** MOCO's two, which bring `moco-init` into the pod and run it, then the user's own. */
export function initContainers(cluster: MySQLCluster, settings: Settings): Container[] {
  return [
    {
      name: 'copy-moco-init',
      image: settings.agentImage,
      command: ['cp', '/moco-init', '/shared/moco-init'],
      resources: resources('100m', '512Mi'),
      volumeMounts: [mount('shared', '/shared')],
      securityContext,
    },
    {
      name: 'moco-init',
      ...(usersMysqld(cluster).image === undefined ? {} : { image: usersMysqld(cluster).image }),
      command: [
        '/shared/moco-init',
        '--data-dir=/var/lib/mysql',
        '--conf-dir=/etc/mysql-conf.d',
        `--init-timezones=${cluster.spec.initializeTimezoneData === true}`,
        String(cluster.spec.serverIDBase ?? 0),
      ],
      env: [podNameVariable],
      resources: resources('100m', '512Mi'),
      volumeMounts: [
        mount('tmp', '/tmp'),
        mount(dataVolume, '/var/lib/mysql'),
        mount('mysql-conf-d', '/etc/mysql-conf.d'),
        mount('shared', '/shared'),
      ],
      securityContext,
    },
    ...(cluster.spec.podTemplate.spec.initContainers ?? []),
  ];
}
