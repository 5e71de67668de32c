import { rolloutKind } from '../../api/rollout.ts';
import { object, objects } from '../../base/json.ts';
import type { HoldRule } from '../../core/rules/catalogue.ts';
import { clusterKind } from '../../moco/names.ts';

// Which fields `diagnose` keeps of each kind. Everything else is left out, so that reports contain no secrets.

/**
 * What is kept of a value: all of it, some fields, or the result of a function. The shape of a list applies to its
 * items. Fields that the shape does not list are left out, because an unknown field could contain a secret.
 */
export type Shape = 'all' | { readonly [field: string]: Shape } | ((value: unknown) => unknown);

export function keep(value: unknown, shape: Shape): unknown {
  if (shape === 'all') return value;
  if (typeof shape === 'function') return shape(value);
  if (Array.isArray(value)) return value.map((item) => keep(item, shape));
  if (typeof value !== 'object' || value === null) return undefined;
  const fields = new Map(Object.entries(value));
  const kept = Object.entries(shape).map(([field, part]) => [field, keep(fields.get(field), part)] as const);
  return Object.fromEntries(kept.filter(([, part]) => part !== undefined));
}

/** A shape that keeps each of these fields as a whole. */
const all = (...fields: readonly string[]): Record<string, Shape> =>
  Object.fromEntries(fields.map((field) => [field, 'all']));

// What is kept of each kind. Environment variables, arguments, commands, probes, volume sources, container messages and
// the annotations of other programs are left out, because they may contain secrets. Secrets and ConfigMaps are not read
// at all.

const ownPrefixes = [`${clusterKind.group}/`, `${rolloutKind.group}/`];

/** Keeps the annotations of MOCO and of this program. Of all other annotations, keeps only the names. */
function annotations(value: unknown): unknown {
  if (value === undefined) return undefined;
  const isOwn = (name: string): boolean => ownPrefixes.some((prefix) => name.startsWith(prefix));
  return Object.fromEntries(Object.entries(object(value)).map(([name, own]) => [name, isOwn(name) ? own : 'removed']));
}

const metadata: Shape = {
  ...all('name', 'namespace', 'uid', 'resourceVersion', 'generation', 'creationTimestamp', 'deletionTimestamp'),
  ...all('finalizers', 'labels', 'ownerReferences'),
  annotations,
};

const container = all('name', 'image', 'ports', 'resources');

const podSpec = (containers: Record<string, Shape>): Shape => ({
  ...all('nodeName', 'serviceAccountName', 'priorityClassName', 'terminationGracePeriodSeconds', 'restartPolicy'),
  ...all('nodeSelector', 'tolerations', 'affinity', 'topologySpreadConstraints'),
  containers,
  initContainers: container,
  volumes: all('name'),
});

const template = (containers: Record<string, Shape>): Shape => ({
  metadata: { ...all('name', 'labels'), annotations },
  spec: podSpec(containers),
});

const state: Shape = {
  waiting: all('reason'),
  running: 'all',
  terminated: all('exitCode', 'reason', 'signal', 'startedAt', 'finishedAt'),
};
const containerStatus: Shape = { ...all('name', 'ready', 'started', 'restartCount', 'image'), state, lastState: state };

export const podShape: Shape = {
  metadata,
  spec: podSpec(container),
  status: {
    ...all('phase', 'reason', 'startTime', 'conditions'),
    containerStatuses: containerStatus,
    initContainerStatuses: containerStatus,
  },
};

const volumeClaimTemplates: Shape = {
  metadata: all('name'),
  spec: all('accessModes', 'resources', 'storageClassName'),
};

export const statefulSetShape: Shape = {
  metadata,
  spec: {
    ...all('replicas', 'updateStrategy', 'podManagementPolicy', 'minReadySeconds', 'revisionHistoryLimit', 'selector'),
    template: template(container),
    volumeClaimTemplates,
  },
  status: 'all',
};

export const clusterShape: Shape = {
  metadata,
  spec: {
    ...all('replicas', 'offline', 'maxDelaySeconds', 'startupWaitSeconds', 'backupPolicyName', 'mysqlConfigMapName'),
    ...all('replicationSourceSecretName', 'disableSlowQueryLogContainer'),
    podTemplate: template(container),
    volumeClaimTemplates,
  },
  status: 'all',
};

/**
 * The shape of a Job that makes a backup or a restore. The arguments are left out, because they contain the names of
 * buckets and clusters.
 */
export const jobShape: Shape = {
  metadata,
  spec: {
    ...all('suspend', 'parallelism', 'completions', 'backoffLimit'),
    ...all('activeDeadlineSeconds', 'ttlSecondsAfterFinished'),
  },
  status: 'all',
};

/** Keeps the flags of the controller, because they contain no secrets. */
export const deploymentShape: Shape = {
  metadata,
  spec: { ...all('replicas', 'strategy'), template: template({ ...container, ...all('args') }) },
  status: 'all',
};

/**
 * Rules with messages that quote other programs (mysqld and its agent, the kubelet, Prometheus, the API server or its
 * webhooks), or that contain names of MySQL's clients.
 */
export const rulesOfOthers: readonly unknown[] = [
  'ImageUnavailable',
  'ConfigurationRefused',
  'LongWrite',
  'ReplicasBehind',
  'MemberSilent',
  'CheckFailing',
  'CheckUnavailable',
  'BlockedByPDB',
  'SuccessorRefused',
  'StepRefused',
  'ConfirmationTooSlow',
  'ReleaseUnsafe',
  'MemberMissing',
  'BackupsUnreadable',
  'SequencesUnreadable',
] satisfies HoldRule[];

const withoutMessage = (value: object): unknown => ('message' in value ? { ...value, message: 'removed' } : value);
const unlessOfOthers = (key: 'rule' | 'reason') => (value: unknown) =>
  rulesOfOthers.includes(object(value)[key]) ? withoutMessage(object(value)) : value;

/** Removes the API server's answer from a step that the API server refused. */
const withoutAnswer = (step: object): unknown =>
  'result' in step && step.result !== 'done' ? { ...step, result: 'removed' } : step;

/** Keeps a MySQLRollout without text from other programs. */
export function rolloutShape(value: unknown): unknown {
  const { status, ...rest } = object(keep(value, plainShape));
  const { hold, conditions, preflight, members, lastStep, mysqlProblem } = object(status);
  const { nodes, configuration } = object(preflight);
  return {
    ...rest,
    status: {
      ...object(status),
      hold: unlessOfOthers('rule')(hold),
      conditions: objects(conditions).map(unlessOfOthers('reason')),
      members: members && objects(members).map(unlessOfOthers('rule')),
      lastStep: lastStep && withoutAnswer(object(lastStep)),
      mysqlProblem: mysqlProblem && 'removed',
      preflight: preflight && {
        ...object(preflight),
        nodes: objects(nodes).map(withoutMessage),
        configuration: configuration && withoutMessage(object(configuration)),
      },
    },
  };
}

/** The shape for kinds without free text from other programs: policies, sequences, budgets and the lease. */
export const plainShape: Shape = { metadata, spec: 'all', status: 'all' };

const event = {
  metadata: all('name', 'creationTimestamp'),
  ...all('regarding', 'related', 'type', 'reason', 'action', 'eventTime', 'series', 'reportingController'),
  ...all('deprecatedCount', 'deprecatedFirstTimestamp', 'deprecatedLastTimestamp'),
} satisfies Shape;

/**
 * Keeps the `note` only if this program wrote it, because other programs, such as the kubelet, put commands and their
 * output into it.
 */
export function eventShape(value: unknown): unknown {
  const { reportingController, reason } = object(value);
  const isPlain = reportingController === 'moco-rollout' && !rulesOfOthers.includes(reason);
  return keep(value, isPlain ? { ...event, ...all('note') } : event);
}
