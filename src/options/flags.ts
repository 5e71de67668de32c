import { partitionDrivers } from '../controller/facts/mode.ts';
import { boundsOf, defaultPolicy } from '../core/policy.ts';
import { usualLease } from '../moco/lease-place.ts';
import { usualSigns } from '../moco/node-maintenance.ts';
import {
  bindAddress,
  boolean,
  choice,
  duration,
  durationUpTo,
  type Flag,
  integer,
  interval,
  keys,
  kind,
  namespace,
  namespaces,
  objectName,
  optionalText,
  type Parsed,
  parseBoolean,
  rate,
  someNamespace,
  text,
  url,
} from './flag.ts';

// The only list of the controller's flags and feature gates. The reference, the chart's schema and the plugin's
// `--assume` are derived from this list.

interface FeatureGate {
  readonly stage: 'ALPHA' | 'BETA' | 'GA';
  readonly enabledByDefault: boolean;
  readonly description: string;
}

/** Every feature gate, in the form that Kubernetes' `component-base/featuregate` uses for gates. */
export const featureGates = {
  UpdateStrategyOnDelete: {
    stage: 'ALPHA',
    enabledByDefault: false,
    description: 'StatefulSets are set to OnDelete, and this program decides which pod is replaced and when',
  },
  InPlaceUpdate: {
    stage: 'ALPHA',
    enabledByDefault: false,
    description: 'running pods are changed if an update does not need to restart mysqld (setting inPlace)',
  },
  NodeMaintenance: {
    stage: 'ALPHA',
    enabledByDefault: false,
    description:
      'nodes are watched, and members leave nodes that are being taken out of service (setting nodeMaintenance)',
  },
  ReplicationFacts: {
    stage: 'ALPHA',
    enabledByDefault: false,
    description:
      'MySQL itself is queried before a member is replaced: what replicas have received and applied, and which writes are open',
  },
  EvictionRequests: {
    stage: 'ALPHA',
    enabledByDefault: false,
    description:
      'EvictionRequests of Kubernetes 1.37 (lifecycle.k8s.io/v1alpha1) are answered: a member that has to leave goes once the primary has moved (setting nodeMaintenance)',
  },
} as const satisfies Readonly<Record<string, FeatureGate>>;

export type FeatureGateName = keyof typeof featureGates;
type FeatureGates = Readonly<Record<FeatureGateName, boolean>>;

const names = Object.keys(featureGates) as FeatureGateName[];

/**
 * Reads a text such as `A=true,B=false`. Gates that the text does not name have their defaults. If a gate is named
 * twice, the last value counts.
 */
function parseFeatureGates(text: string): Parsed<FeatureGates> {
  const defaults = names.map((name) => [name, featureGates[name].enabledByDefault]);
  const gates = Object.fromEntries(defaults) as Record<FeatureGateName, boolean>;
  for (const item of text.split(',').map((part) => part.trim())) {
    if (item === '') continue;
    const [name = '', setting] = item.split(/=(.*)/s);
    const gate = names.find((one) => one === name);
    if (gate === undefined) return problem(`unknown feature gate \`${name}\`; the known ones are ${names.join(', ')}`);
    const enabled = parseBoolean(setting ?? '');
    if (enabled === null) {
      const got = setting === undefined ? 'nothing' : `\`${setting}\``;
      return problem(`expected the feature gate ${name} to be true or false, got ${got}; write ${name}=true`);
    }
    gates[gate] = enabled;
  }
  return { kind: 'value', value: gates };
}

const gatesSchema = {
  type: 'object',
  additionalProperties: false,
  properties: Object.fromEntries(names.map((name) => [name, { type: 'boolean' }])),
};

const problem = (message: string): Parsed<FeatureGates> => ({
  kind: 'problem',
  message: `In --feature-gates: ${message}.`,
});

export const logLevels = ['debug', 'info', 'warn', 'error'] as const;
export const strategies = ['OnDelete', 'Partition'] as const;
export const mysqlTlsModes = ['Prefer', 'Require'] as const;
export const logFormats = ['json', 'text'] as const;

/**
 * Every flag of the controller, in the order of `--help`, by the name of the field in `Options`. Names and defaults of
 * flags follow Kubernetes' own programs.
 */
export const flags = {
  kubeconfigPath: optionalText('<path>')('kubeconfig', 'kubeconfig file; defaults to the ServiceAccount of the pod'),
  featureGates: kind(
    '<gates>',
    gatesSchema,
    parseFeatureGates,
  )(
    'feature-gates',
    // The help text has one line for each gate, as in Kubernetes' own programs.
    `comma-separated list of NAME=true|false:\n${Object.entries(featureGates)
      .map(([name, { stage, enabledByDefault }]) => `${name}=true|false (${stage} - default=${enabledByDefault})`)
      .join('\n')}`,
  ),
  namespaces: namespaces(
    'namespaces',
    'comma-separated list of namespaces to work in; nothing is read or written elsewhere; defaults to all namespaces',
  ),
  webhookBindAddress: bindAddress(
    'webhook-bind-address=0',
    'address of the webhooks (HTTPS), HOST:PORT or :PORT; 0 disables them; from Kubernetes 1.36 on only the bundled partition driver needs one',
  ),
  certDir: text('<directory>')(
    'cert-dir=/tmp/k8s-webhook-server/serving-certs',
    "directory of the webhook's tls.crt and tls.key; they are read again when they change",
  ),
  clientCaFile: optionalText('<file>')(
    'client-ca-file',
    'PEM file of the CA that signs the client certificates of the webhook, such as that of the API server; read again when it changes; without it every client is served',
  ),
  metricsBindAddress: bindAddress(
    'metrics-bind-address=:8080',
    'address of /metrics (HTTP), HOST:PORT or :PORT; 0 disables it',
  ),
  healthProbeBindAddress: bindAddress(
    'health-probe-bind-address=:8081',
    'address of /healthz and /readyz (HTTP), HOST:PORT or :PORT; 0 disables them',
  ),
  leaderElect: boolean(
    'leader-elect=false',
    'acquire a lease before doing anything, so that only one of several replicas works',
  ),
  leaderElectionNamespace: namespace(
    'leader-election-namespace',
    'namespace of the lease; defaults to the namespace of the pod',
  ),
  leaseDurationMilliseconds: duration(
    'lease-duration=15s',
    'how long the other replicas wait before they acquire a lease that is not renewed',
  ),
  renewDeadlineMilliseconds: duration(
    'renew-deadline=10s',
    'how long the leader retries to renew the lease before it gives up; less than --lease-duration',
  ),
  retryPeriodMilliseconds: duration(
    'retry-period=2s',
    'time between attempts to acquire or renew the lease; less than --renew-deadline',
  ),
  maxConcurrentReconciles: integer(1, 1000)(
    'max-concurrent-reconciles=8',
    'number of clusters that are reconciled at the same time',
  ),
  kubeApiQps: rate('kube-api-qps=100', 'requests to the API server per second, on average'),
  kubeApiBurst: integer(1, 100_000)('kube-api-burst=200', 'requests to the API server that may be sent in a burst'),
  defaultStrategy: choice(strategies)(
    'default-strategy=OnDelete',
    'strategy of clusters for which neither a MySQLRollout nor a MySQLRolloutPolicy sets one; OnDelete requires the feature gate',
  ),
  minReadySeconds: integer(...boundsOf.minReadySeconds)(
    `min-ready-seconds=${defaultPolicy.minReadySeconds}`,
    'seconds that an updated member has to participate before the next one is disrupted, if neither a MySQLRollout nor a MySQLRolloutPolicy sets it',
  ),
  replicaDelayGraceSeconds: integer(...boundsOf.replicaDelayGraceSeconds)(
    `replica-delay-grace-seconds=${defaultPolicy.replicaDelayGraceSeconds}`,
    'seconds for which a switchover waits for replication delays that cannot be read, if neither a MySQLRollout nor a MySQLRolloutPolicy sets it',
  ),
  silentMemberGraceSeconds: integer(...boundsOf.silentMemberGraceSeconds)(
    `silent-member-grace-seconds=${defaultPolicy.silentMemberGraceSeconds}`,
    "seconds for which a step waits for a member that does not answer although its pod is ready; longer than Kubernetes' node-monitor-grace-period and MOCO's check interval together",
  ),
  mocoLeaseNamespace: someNamespace(
    `moco-lease-namespace=${usualLease.namespace}`,
    'namespace of the Lease with which moco-controller elects its leader, which is that of its pod',
  ),
  mocoLeaseName: objectName(
    `moco-lease-name=${usualLease.name}`,
    'name of the Lease with which moco-controller elects its leader, which is its --leader-election-id',
  ),
  partitionDriver: choice(partitionDrivers)(
    'partition-driver=moco',
    'who lowers partitions if the strategy is not OnDelete: moco, or own (this program) for a MOCO without a partition controller',
  ),
  maxConcurrentRollouts: integer(0, 100_000)(
    'max-concurrent-rollouts=5',
    'number of clusters that may roll at the same time, with any strategy; 0 means no limit',
  ),
  maxNamespaceShare: integer(1, 100)(
    'max-namespace-share=50',
    'percentage of the slots of --max-concurrent-rollouts that the clusters of one namespace may hold while there are clusters of others, rounded up; 100 means no limit',
  ),
  verifyFirstCluster: boolean(
    'verify-first-cluster=true',
    'let the clusters that no MySQLRolloutSequence selects wait until a member of the first of them has verified its revision',
  ),
  releaseStalledSlots: boolean(
    'release-stalled-slots=false',
    'with --max-concurrent-rollouts, let another cluster begin while a rollout has the condition Stalled',
  ),
  maxFailingRollouts: integer(0, 100_000)(
    'max-failing-rollouts=3',
    'number of failing or stalled rollouts at which no other cluster begins one; each other namespace counts once; 0 means no limit',
  ),
  disruptionIntervalMilliseconds: interval(
    'disruption-interval=0',
    'minimum time between two disruptions of working members, in all clusters together; 0 means none',
  ),
  partitionUpdateIntervalMilliseconds: interval(
    'partition-update-interval=0',
    'minimum time between two partitions lowered by this program, in all clusters together; 0 means none',
  ),
  confirmationTimeoutMilliseconds: durationUpTo(10_000)(
    'confirmation-timeout=2s',
    'how old the facts of a step may be when it is sent, at most 10s; longer for an API server that is slow or far away, but what changes meanwhile goes unnoticed',
  ),
  dryRunPods: boolean(
    'dry-run-pods=true',
    'check by dry runs whether the next pod of a member would be admitted; needs the right to create pods, which an installation without the ValidatingAdmissionPolicies does not grant',
  ),
  evictionRequestTimeoutMilliseconds: durationUpTo(86_400_000)(
    'eviction-request-timeout=1h',
    'with EvictionRequests, how long an eviction is held up for a member that may not go yet, at most 24h; then Kubernetes evicts it as its PodDisruptionBudget allows',
  ),
  maxOverrideMilliseconds: duration(
    'max-override-duration=24h',
    'how long a rule may be overridden: an override that ends later has no effect until then',
  ),
  prometheusUrl: url(
    'prometheus-url',
    'address of the Prometheus for `checks`, http or https, with its path prefix if it has one; without it checks have no answer, and clusters with checks wait',
  ),
  prometheusCaFile: optionalText('<file>')(
    'prometheus-ca-file',
    'PEM file of the CA that signs the certificate of --prometheus-url; read again when it changes; defaults to the CAs of Node.js',
  ),
  prometheusTokenFile: optionalText('<file>')(
    'prometheus-token-file',
    'file of the bearer token for --prometheus-url, which has to be https; read for every query',
  ),
  prometheusBasicAuthFile: optionalText('<file>')(
    'prometheus-basic-auth-file',
    'file with user:password for --prometheus-url, which has to be https; read for every query',
  ),
  prometheusHeadersFile: optionalText('<file>')(
    'prometheus-headers-file',
    'file of headers for --prometheus-url, one on each line, such as `X-Scope-OrgID: team`; read for every query',
  ),
  prometheusProxyUrl: url(
    'prometheus-proxy-url',
    'address of the proxy for --prometheus-url, http or https; variables such as HTTPS_PROXY are ignored',
  ),
  leavingNodeTaints: keys(
    `leaving-node-taints=${usualSigns.taints.join()}`,
    'with NodeMaintenance, keys of taints, separated by commas: a node with one of them is being taken out of service, like a cordoned one',
  ),
  leavingNodeAnnotations: keys(
    'leaving-node-annotations',
    'with NodeMaintenance, annotations by which a tool announces that it takes a node out of service: KEY or KEY=VALUE, separated by commas',
  ),
  mysqlSecretName: text('<secret>')(
    'mysql-secret-name=moco-{name}',
    'with ReplicationFacts, the Secret in the namespace of each cluster that has READONLY_PASSWORD; {name} stands for the name of the MySQLCluster; the default is the Secret of MOCO, which has the passwords of all its accounts',
  ),
  mysqlTls: choice(mysqlTlsModes)(
    'mysql-tls=Prefer',
    'with ReplicationFacts, whether MySQL may be queried without TLS if it offers none: Prefer allows that, Require does not',
  ),
  mysqlCaFile: optionalText('<file>')(
    'mysql-ca-file',
    'PEM file of the CA that signs the certificates of all mysqlds; read again each time; requires TLS; without this flag any certificate is accepted, since mysqld creates its own',
  ),
  logLevel: choice(logLevels)('log-level=info', 'least severe level that is logged'),
  logFormat: choice(logFormats)('log-format=json', 'json writes one object on each line; text is for people'),
} as const;

/**
 * The values of all flags. Durations and intervals are in milliseconds. An interval or a limit of 0 means that there is
 * none. `null` means that the value is not given or that it is disabled.
 */
export type Options = {
  readonly [Field in keyof typeof flags]: (typeof flags)[Field] extends Flag<infer Value> ? Value : never;
};
