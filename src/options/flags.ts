import { partitionDrivers } from '../controller/facts/mode.ts';
import {
  bindAddress,
  boolean,
  choice,
  duration,
  type Flag,
  integer,
  interval,
  kind,
  namespace,
  namespaces,
  optionalText,
  type Parsed,
  parseBoolean,
  rate,
  text,
  url,
} from './flag.ts';

interface FeatureGate {
  readonly stage: 'ALPHA' | 'BETA' | 'GA';
  readonly enabledByDefault: boolean;
  readonly description: string;
}

/** Every feature gate there is, in the manner of Kubernetes' `component-base/featuregate`. */
export const featureGates = {
  UpdateStrategyOnDelete: {
    stage: 'ALPHA',
    enabledByDefault: false,
    description: 'StatefulSets are set to OnDelete, and this program decides which pod is replaced, and when',
  },
  InPlaceUpdate: {
    stage: 'ALPHA',
    enabledByDefault: false,
    description: 'pods are changed while they run, where an update does not need to restart mysqld (setting inPlace)',
  },
  ReplicationFacts: {
    stage: 'ALPHA',
    enabledByDefault: false,
    description:
      'MySQL itself is asked what replicas have received and applied, and about open writes, before a member is taken',
  },
} as const satisfies Readonly<Record<string, FeatureGate>>;

export type FeatureGateName = keyof typeof featureGates;
type FeatureGates = Readonly<Record<FeatureGateName, boolean>>;

const names = Object.keys(featureGates) as FeatureGateName[];

/** Reads `A=true,B=false`; what isn't named keeps its default. The last one wins where a gate is named twice. */
function parseFeatureGates(text: string): Parsed<FeatureGates> {
  const gates: Record<FeatureGateName, boolean> = { ...defaultFeatureGates() };
  for (const item of text.split(',').map((part) => part.trim())) {
    if (item === '') continue;
    const [name = '', setting] = item.split(/=(.*)/s);
    if (!isFeatureGate(name))
      return problem(`unknown feature gate \`${name}\`; the known ones are ${names.join(', ')}`);
    const enabled = setting === undefined ? null : parseBoolean(setting);
    if (enabled === null) {
      const got = setting === undefined ? 'nothing' : `\`${setting}\``;
      return problem(`expected the feature gate ${name} to be true or false, got ${got}; write ${name}=true`);
    }
    gates[name] = enabled;
  }
  return { kind: 'value', value: gates };
}

/** One line a gate, as Kubernetes' own programs list them in `--help`. */
function describeFeatureGates(): string {
  return names
    .map((name) => `${name}=true|false (${featureGates[name].stage} - default=${featureGates[name].enabledByDefault})`)
    .join('\n');
}

function defaultFeatureGates(): FeatureGates {
  const defaults = names.map((name) => [name, featureGates[name].enabledByDefault]);
  return Object.fromEntries(defaults) as Record<FeatureGateName, boolean>;
}

function isFeatureGate(name: string): name is FeatureGateName {
  return Object.hasOwn(featureGates, name);
}

function problem(message: string): Parsed<FeatureGates> {
  return { kind: 'problem', message: `In --feature-gates: ${message}.` };
}

export const logLevels = ['debug', 'info', 'warn', 'error'] as const;
export const strategies = ['OnDelete', 'Partition'] as const;
export const logFormats = ['json', 'text'] as const;

/**
 * Every flag of the controller by the field of its value, in the order of `--help`. Names and defaults follow
 * Kubernetes' own programs.
 */
export const flags = {
  kubeconfigPath: optionalText('<path>')('kubeconfig', 'kubeconfig file; defaults to the ServiceAccount of the pod'),
  featureGates: kind('<gates>', parseFeatureGates)(
    'feature-gates',
    `comma-separated list of NAME=true|false:\n${describeFeatureGates()}`,
  ),
  namespaces: namespaces(
    'namespaces',
    'comma-separated list of namespaces to work in; nothing is read or written elsewhere; defaults to all namespaces',
  ),
  webhookBindAddress: bindAddress(
    'webhook-bind-address',
    'address of the webhooks (HTTPS), HOST:PORT or :PORT; 0 disables them; from Kubernetes 1.36 on only the own partition driver needs one',
    '0',
  ),
  certDir: text('<directory>')(
    'cert-dir',
    "directory of the webhook's tls.crt and tls.key; they are read again when they change",
    '/tmp/k8s-webhook-server/serving-certs',
  ),
  clientCaFile: optionalText('<file>')(
    'client-ca-file',
    'PEM file of the CA that signs the client certificates of the webhook, such as that of the API server; read again when it changes; without it every client is served',
  ),
  metricsBindAddress: bindAddress(
    'metrics-bind-address',
    'address of /metrics (HTTP), HOST:PORT or :PORT; 0 disables it',
    ':8080',
  ),
  healthProbeBindAddress: bindAddress(
    'health-probe-bind-address',
    'address of /healthz and /readyz (HTTP), HOST:PORT or :PORT; 0 disables them',
    ':8081',
  ),
  leaderElect: boolean(
    'leader-elect',
    'acquire a lease before doing anything, so that one of several replicas works',
    'false',
  ),
  leaderElectionNamespace: namespace(
    'leader-election-namespace',
    'namespace of the lease; defaults to the namespace of the pod',
  ),
  leaseDurationMilliseconds: duration(
    'lease-duration',
    'how long the other replicas wait before they acquire a lease that is not renewed',
    '15s',
  ),
  renewDeadlineMilliseconds: duration(
    'renew-deadline',
    'how long the leader retries to renew the lease before it gives up; less than --lease-duration',
    '10s',
  ),
  retryPeriodMilliseconds: duration(
    'retry-period',
    'time between attempts to acquire or renew the lease; less than --renew-deadline',
    '2s',
  ),
  maxConcurrentReconciles: integer(1, 1000)(
    'max-concurrent-reconciles',
    'number of clusters that are reconciled at the same time',
    '8',
  ),
  kubeApiQps: rate('kube-api-qps', 'requests to the API server per second, on average', '100'),
  kubeApiBurst: integer(1, 100_000)('kube-api-burst', 'requests to the API server that may be sent in a burst', '200'),
  defaultStrategy: choice(strategies)(
    'default-strategy',
    'strategy of clusters for which neither a MySQLRollout nor a MySQLRolloutPolicy sets one; OnDelete requires the feature gate',
    'OnDelete',
  ),
  minReadySeconds: integer(0, 3600)(
    'min-ready-seconds',
    'seconds that an updated member has to participate before the next one is disrupted, if neither a MySQLRollout nor a MySQLRolloutPolicy sets it',
    '5',
  ),
  replicaDelayGraceSeconds: integer(0, 86_400)(
    'replica-delay-grace-seconds',
    'seconds for which a switchover waits for replication delays that can not be read, if neither a MySQLRollout nor a MySQLRolloutPolicy sets it',
    '30',
  ),
  partitionDriver: choice(partitionDrivers)(
    'partition-driver',
    'who lowers partitions if the strategy is not OnDelete: moco, or own (this program) for a MOCO without a partition controller',
    'moco',
  ),
  maxConcurrentRollouts: integer(0, 100_000)(
    'max-concurrent-rollouts',
    'number of clusters that may roll at the same time, with any strategy; 0 means no limit',
    '5',
  ),
  verifyFirstCluster: boolean(
    'verify-first-cluster',
    'let the clusters that no MySQLRolloutSequence selects wait until a member of the first of them has verified its revision',
    'true',
  ),
  releaseStalledSlots: boolean(
    'release-stalled-slots',
    'with --max-concurrent-rollouts, let another cluster begin while a rollout has the condition Stalled',
    'false',
  ),
  maxFailingRollouts: integer(0, 100_000)(
    'max-failing-rollouts',
    'number of clusters with a failing or stalled rollout from which on no other cluster begins one; 0 means no limit',
    '3',
  ),
  disruptionIntervalMilliseconds: interval(
    'disruption-interval',
    'minimum time between two disruptions of members that work, in all clusters together; 0 means none',
    '0',
  ),
  partitionUpdateIntervalMilliseconds: interval(
    'partition-update-interval',
    'minimum time between two partitions lowered by this program, in all clusters together; 0 means none',
    '0',
  ),
  maxOverrideMilliseconds: duration(
    'max-override-duration',
    'how long a rule may be overridden: an override that ends later has no effect until then',
    '24h',
  ),
  prometheusUrl: url(
    'prometheus-url',
    'address of the Prometheus that is asked for `checks`, http or https, with the path that its paths begin with, if any; without it checks have no answer, and clusters that have some wait',
  ),
  prometheusCaFile: optionalText('<file>')(
    'prometheus-ca-file',
    'PEM file of the CA that signs the certificate of --prometheus-url; read again when it changes; without it the CAs that Node.js knows',
  ),
  prometheusTokenFile: optionalText('<file>')(
    'prometheus-token-file',
    'file of the bearer token for --prometheus-url, which has to be https; read for every query',
  ),
  logLevel: choice(logLevels)('log-level', 'least severe level that is logged', 'info'),
  logFormat: choice(logFormats)('log-format', 'json writes one object a line; text is for people', 'json'),
} as const;

/**
 * The values of all flags: durations in milliseconds, intervals in milliseconds with 0 for none, limits with 0 for
 * none, and `null` for what is not given or not wanted.
 */
export type Options = {
  readonly [Field in keyof typeof flags]: (typeof flags)[Field] extends Flag<infer Value> ? Value : never;
};
