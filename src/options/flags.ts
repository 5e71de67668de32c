import { partitionDrivers } from '../controller/observe/mode.ts';
import { describeFeatureGates } from './feature-gates.ts';
import {
  bindAddressFlag,
  booleanFlag,
  choiceFlag,
  durationFlag,
  integerFlag,
  intervalFlag,
  namespaceFlag,
  namespacesFlag,
  rateFlag,
  textFlag,
  urlFlag,
} from './flag.ts';

export const logLevels = ['debug', 'info', 'warn', 'error'] as const;
export const strategies = ['OnDelete', 'Partition'] as const;
export const logFormats = ['json', 'text'] as const;

/** Every flag of the controller, in the order of `--help`. Names and defaults follow Kubernetes' own programs. */
export const flags = {
  kubeconfig: textFlag('<path>', {
    defaultText: '',
    description: 'kubeconfig file; defaults to the ServiceAccount of the pod',
  }),
  'feature-gates': textFlag('<gates>', {
    defaultText: '',
    description: `comma-separated list of NAME=true|false:\n${describeFeatureGates()}`,
  }),
  namespaces: namespacesFlag({
    defaultText: '',
    description:
      'comma-separated list of namespaces to work in; nothing is read or written elsewhere; defaults to all namespaces',
  }),
  'webhook-bind-address': bindAddressFlag({
    defaultText: '0',
    description:
      'address of the webhooks (HTTPS), HOST:PORT or :PORT; 0 disables them; from Kubernetes 1.36 on only the own partition driver needs one',
  }),
  'cert-dir': textFlag('<directory>', {
    defaultText: '/tmp/k8s-webhook-server/serving-certs',
    description: "directory of the webhook's tls.crt and tls.key; they are read again when they change",
  }),
  'client-ca-file': textFlag('<file>', {
    defaultText: '',
    description:
      'PEM file of the CA that signs the client certificates of the webhook, such as that of the API server; read again when it changes; without it every client is served',
  }),
  'metrics-bind-address': bindAddressFlag({
    defaultText: ':8080',
    description: 'address of /metrics (HTTP), HOST:PORT or :PORT; 0 disables it',
  }),
  'health-probe-bind-address': bindAddressFlag({
    defaultText: ':8081',
    description: 'address of /healthz and /readyz (HTTP), HOST:PORT or :PORT; 0 disables them',
  }),
  'leader-elect': booleanFlag({
    defaultText: 'false',
    description: 'acquire a lease before doing anything, so that one of several replicas works',
  }),
  'leader-election-namespace': namespaceFlag({
    defaultText: '',
    description: 'namespace of the lease; defaults to the namespace of the pod',
  }),
  'lease-duration': durationFlag({
    defaultText: '15s',
    description: 'how long the other replicas wait before they acquire a lease that is not renewed',
  }),
  'renew-deadline': durationFlag({
    defaultText: '10s',
    description: 'how long the leader retries to renew the lease before it gives up; less than --lease-duration',
  }),
  'retry-period': durationFlag({
    defaultText: '2s',
    description: 'time between attempts to acquire or renew the lease; less than --renew-deadline',
  }),
  'max-concurrent-reconciles': integerFlag(1, 1000, {
    defaultText: '8',
    description: 'number of clusters that are reconciled at the same time',
  }),
  'kube-api-qps': rateFlag({ defaultText: '100', description: 'requests to the API server per second, on average' }),
  'kube-api-burst': integerFlag(1, 100_000, {
    defaultText: '200',
    description: 'requests to the API server that may be sent in a burst',
  }),
  'default-strategy': choiceFlag(strategies, {
    defaultText: 'OnDelete',
    description:
      'strategy of clusters for which neither a MySQLRollout nor a MySQLRolloutPolicy sets one; OnDelete requires the feature gate',
  }),
  'min-ready-seconds': integerFlag(0, 3600, {
    defaultText: '5',
    description:
      'seconds that an updated member has to participate before the next one is disrupted, if neither a MySQLRollout nor a MySQLRolloutPolicy sets it',
  }),
  'replica-delay-grace-seconds': integerFlag(0, 86_400, {
    defaultText: '30',
    description:
      'seconds for which a switchover waits for replication delays that can not be read, if neither a MySQLRollout nor a MySQLRolloutPolicy sets it',
  }),
  'partition-driver': choiceFlag(partitionDrivers, {
    defaultText: 'moco',
    description:
      'who lowers partitions if the strategy is not OnDelete: moco, or own (this program) for a MOCO without a partition controller',
  }),
  'max-concurrent-rollouts': integerFlag(0, 100_000, {
    defaultText: '0',
    description: 'number of clusters that may roll at the same time, with any strategy; 0 means no limit',
  }),
  'release-stalled-slots': booleanFlag({
    defaultText: 'false',
    description: 'with --max-concurrent-rollouts, let another cluster begin while a rollout has the condition Stalled',
  }),
  'max-failing-rollouts': integerFlag(0, 100_000, {
    defaultText: '3',
    description:
      'number of clusters with a failing or stalled rollout from which on no other cluster begins one; 0 means no limit',
  }),
  'disruption-interval': intervalFlag({
    defaultText: '0',
    description: 'minimum time between two disruptions of members that work, in all clusters together; 0 means none',
  }),
  'partition-update-interval': intervalFlag({
    defaultText: '0',
    description: 'minimum time between two partitions lowered by this program, in all clusters together; 0 means none',
  }),
  'prometheus-url': urlFlag({
    defaultText: '',
    description:
      'address of the Prometheus that is asked for `checks`, http or https, with the path that its paths begin with, if any; without it checks have no answer, and clusters that have some wait',
  }),
  'prometheus-ca-file': textFlag('<file>', {
    defaultText: '',
    description:
      'PEM file of the CA that signs the certificate of --prometheus-url; read again when it changes; without it the CAs that Node.js knows',
  }),
  'prometheus-token-file': textFlag('<file>', {
    defaultText: '',
    description: 'file of the bearer token for --prometheus-url, which has to be https; read for every query',
  }),
  'log-level': choiceFlag(logLevels, { defaultText: 'info', description: 'least severe level that is logged' }),
  'log-format': choiceFlag(logFormats, {
    defaultText: 'json',
    description: 'json writes one object a line; text is for people',
  }),
} as const;

export type FlagName = keyof typeof flags;
export const flagNames = Object.keys(flags) as FlagName[];
