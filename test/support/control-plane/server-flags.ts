import { type AuditFiles, auditFlags } from './audit-files.ts';

/** Where everything lies that the three servers are started with. Paths, but for the ports. */
export interface ServerFiles {
  readonly etcdData: string;
  readonly etcdPort: number;
  readonly apiServerPort: number;
  readonly ca: string;
  readonly servingCertificate: string;
  readonly servingKey: string;
  readonly serviceAccountKey: string;
  readonly tokens: string;
  readonly controllerManagerKubeconfig: string;
  /** `null`: nothing is recorded. */
  readonly audit: AuditFiles | null;
}

export interface ServerOptions {
  /** Kubernetes' feature gates, given to kube-apiserver and kube-controller-manager alike. */
  readonly featureGates: Readonly<Record<string, boolean>>;
  /** kube-apiserver's `--runtime-config`, such as `{'admissionregistration.k8s.io/v1beta1': true}`. */
  readonly runtimeConfig: Readonly<Record<string, boolean>>;
  /** Controllers beyond {@link defaultControllers}. */
  readonly moreControllers: readonly string[];
  /** Whether pods need a ServiceAccount that exists. The stand-in for MOCO makes none. */
  readonly serviceAccountAdmission: boolean;
  /** Given last, so they win. */
  readonly moreApiServerFlags: readonly string[];
}

/** What rollouts, budgets, backups' jobs, quotas and the end of namespaces need. No node controller: stand-ins are the nodes. */
const defaultControllers = [
  'statefulset-controller',
  'disruption-controller',
  'garbage-collector-controller',
  'namespace-controller',
  'serviceaccount-controller',
  'clusterrole-aggregation-controller',
  'job-controller',
  'cronjob-controller',
  'resourcequota-controller',
  'persistentvolumeclaim-protection-controller',
];

function pairs(values: Readonly<Record<string, boolean>>): string {
  return Object.entries(values)
    .map(([name, value]) => `${name}=${value}`)
    .join(',');
}

function gates({ featureGates }: ServerOptions): string[] {
  return Object.keys(featureGates).length === 0 ? [] : [`--feature-gates=${pairs(featureGates)}`];
}

/** One member without durability: no fsync, and any free peer port. */
export function etcdFlags(files: ServerFiles): string[] {
  const clientUrl = `http://127.0.0.1:${files.etcdPort}`;
  const peerUrl = 'http://127.0.0.1:0';
  return [
    '--name=local',
    `--data-dir=${files.etcdData}`,
    `--listen-client-urls=${clientUrl}`,
    `--advertise-client-urls=${clientUrl}`,
    `--listen-peer-urls=${peerUrl}`,
    `--initial-advertise-peer-urls=${peerUrl}`,
    `--initial-cluster=local=${peerUrl}`,
    '--unsafe-no-fsync',
    // Ten times the default: each commit costs processor time, however little is in it.
    '--backend-batch-interval=1s',
    // The most that etcd recommends: what it has by itself (2 GiB) a fleet may fill between two compactions.
    `--quota-backend-bytes=${8 * 2 ** 30}`,
    '--log-level=warn',
  ];
}

export function apiServerFlags(files: ServerFiles, options: ServerOptions): string[] {
  return [
    `--etcd-servers=http://127.0.0.1:${files.etcdPort}`,
    '--bind-address=127.0.0.1',
    '--advertise-address=127.0.0.1',
    `--secure-port=${files.apiServerPort}`,
    `--tls-cert-file=${files.servingCertificate}`,
    `--tls-private-key-file=${files.servingKey}`,
    `--client-ca-file=${files.ca}`,
    `--token-auth-file=${files.tokens}`,
    `--service-account-key-file=${files.serviceAccountKey}`,
    `--service-account-signing-key-file=${files.serviceAccountKey}`,
    '--service-account-issuer=https://kubernetes.default.svc',
    // Wide: MOCO creates three Services for each cluster.
    '--service-cluster-ip-range=10.96.0.0/12',
    '--authorization-mode=RBAC',
    '--endpoint-reconciler-type=none',
    ...(options.serviceAccountAdmission ? [] : ['--disable-admission-plugins=ServiceAccount']),
    ...(Object.keys(options.runtimeConfig).length === 0 ? [] : [`--runtime-config=${pairs(options.runtimeConfig)}`]),
    ...(files.audit === null ? [] : auditFlags(files.audit)),
    ...gates(options),
    ...options.moreApiServerFlags,
  ];
}

export function controllerManagerFlags(files: ServerFiles, options: ServerOptions): string[] {
  return [
    `--kubeconfig=${files.controllerManagerKubeconfig}`,
    `--controllers=${[...defaultControllers, ...options.moreControllers].join(',')}`,
    '--leader-elect=false',
    '--kube-api-qps=500',
    '--kube-api-burst=1000',
    '--secure-port=0',
    ...gates(options),
  ];
}
