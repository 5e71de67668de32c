import { partitionDrivers } from '../controller/mode.ts';
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
} from './flag.ts';

export const logLevels = ['debug', 'info', 'warn', 'error'] as const;
export const strategies = ['OnDelete', 'Partition'] as const;
export const logFormats = ['json', 'text'] as const;

/** Every flag of the controller, in the order of `--help`. Names and defaults follow Kubernetes' own programs. */
export const flags = {
  kubeconfig: textFlag('<path>', {
    defaultText: '',
    description: 'kubeconfig file to reach the API server with; without it, the ServiceAccount of the pod this runs in',
  }),
  'feature-gates': textFlag('<gates>', {
    defaultText: '',
    description: `comma-separated list of NAME=true|false:\n${describeFeatureGates()}`,
  }),
  namespaces: namespacesFlag({
    defaultText: '',
    description: 'comma-separated namespaces to work in; elsewhere nothing is read or touched; without it, all of them',
  }),
  'webhook-bind-address': bindAddressFlag({
    defaultText: '0',
    description:
      'address of the webhooks (HTTPS), HOST:PORT or :PORT; 0 for none; from Kubernetes 1.36 on only the own partition driver needs one',
  }),
  'cert-dir': textFlag('<directory>', {
    defaultText: '/tmp/k8s-webhook-server/serving-certs',
    description: "directory of the webhook's tls.crt and tls.key, which are read again when they change",
  }),
  'client-ca-file': textFlag('<file>', {
    defaultText: '',
    description:
      'certificates in PEM that sign those of the clients the webhook serves, such as the API server; read again when they change; without it, anybody is served',
  }),
  'metrics-bind-address': bindAddressFlag({
    defaultText: ':8080',
    description: 'address of /metrics (HTTP), HOST:PORT or :PORT; 0 for none',
  }),
  'health-probe-bind-address': bindAddressFlag({
    defaultText: ':8081',
    description: 'address of /healthz and /readyz (HTTP), HOST:PORT or :PORT; 0 for none',
  }),
  'leader-elect': booleanFlag({
    defaultText: 'false',
    description: 'take a lease before doing anything, so that of several replicas one works',
  }),
  'leader-election-namespace': namespaceFlag({
    defaultText: '',
    description: 'namespace of the lease; without it, the one of the pod this runs in',
  }),
  'lease-duration': durationFlag({
    defaultText: '15s',
    description: 'how long the others wait before they take a lease that is not renewed',
  }),
  'renew-deadline': durationFlag({
    defaultText: '10s',
    description: 'how long the leader tries to renew before it gives up; less than --lease-duration',
  }),
  'retry-period': durationFlag({
    defaultText: '2s',
    description: 'how long to wait between two tries to take or renew the lease; less than --renew-deadline',
  }),
  'max-concurrent-reconciles': integerFlag(1, 1000, {
    defaultText: '8',
    description: 'how many clusters are looked at at the same time',
  }),
  'kube-api-qps': rateFlag({ defaultText: '100', description: 'requests a second to the API server, in the long run' }),
  'kube-api-burst': integerFlag(1, 100_000, {
    defaultText: '200',
    description: 'requests to the API server that may be sent at once',
  }),
  'default-strategy': choiceFlag(strategies, {
    defaultText: 'OnDelete',
    description:
      'strategy of the clusters for which neither a MySQLRollout nor a MySQLRolloutPolicy says one; OnDelete takes the feature gate',
  }),
  'min-ready-seconds': integerFlag(0, 3600, {
    defaultText: '5',
    description:
      'seconds an updated member has to participate before the next one goes, where neither a MySQLRollout nor a MySQLRolloutPolicy says it',
  }),
  'partition-driver': choiceFlag(partitionDrivers, {
    defaultText: 'moco',
    description:
      'who lowers partitions outside of OnDelete: moco, or own (this program), for a MOCO without a partition controller',
  }),
  'max-concurrent-rollouts': integerFlag(0, 100_000, {
    defaultText: '0',
    description: 'how many clusters may be rolling at a time, in both modes; 0 for no limit',
  }),
  'release-stalled-slots': booleanFlag({
    defaultText: 'false',
    description:
      'with --max-concurrent-rollouts, let another cluster begin while the condition Stalled of a rollout that has begun is True',
  }),
  'disruption-interval': intervalFlag({
    defaultText: '0',
    description: 'least time between two disruptions of members that work, in all clusters together; 0 for none',
  }),
  'partition-update-interval': intervalFlag({
    defaultText: '0',
    description: 'least time between two updates of a partition by this program, in all clusters together; 0 for none',
  }),
  'log-level': choiceFlag(logLevels, { defaultText: 'info', description: 'least important lines that are written' }),
  'log-format': choiceFlag(logFormats, {
    defaultText: 'json',
    description: 'json for machines, one object a line; text for people',
  }),
} as const;

export type FlagName = keyof typeof flags;
export const flagNames = Object.keys(flags) as FlagName[];
