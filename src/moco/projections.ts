import {
  conditionOf,
  fewObjects,
  fewTexts,
  identityOf,
  type Json,
  milliseconds,
  named,
  object,
  objects,
  text,
  texts,
  whole,
} from '../base/json.ts';
import { shortened } from '../base/text.ts';
import { mocoStates } from '../core/moco-state.ts';
import { mostReplicas } from '../core/situation.ts';
import { metricsPortName, probePortName } from './agent.ts';
import { parseDataRecord } from './data-record.ts';
import { liveResources, resizedAt, resizeOf } from './in-place/live-resources.ts';
import { labelSetAt, newestManagers, statusSetAt, whoseOf, writersOf } from './managed-fields.ts';
import { mysqldIn } from './mysqld-version.ts';
import {
  agentContainer,
  annotationOn,
  appNameLabel,
  appNameOfBackup,
  appNameOfMoco,
  clusteringStoppedAnnotation,
  clusterNameLabel,
  createdByLabel,
  createdByMoco,
  dataAnnotation,
  demoteAnnotation,
  demotedForAnnotation,
  forceRollingUpdateAnnotation,
  mysqldContainer,
  newPodsAtCurrentRevision,
  newPodsLabel,
  preventDeleteAnnotation,
  reconciliationStoppedAnnotation,
  releasedAnnotation,
  restartInPlaceAnnotation,
  revisionHashLabel,
  roleLabel,
  rolePrimary,
  roleReplica,
  rolloutCompleteCondition,
  strategyLabel,
  strategyOnDelete,
} from './names.ts';
import type {
  BudgetRecord,
  ClaimRecord,
  ClusterRecord,
  ContainerRecord,
  JobRecord,
  LabelSelector,
  LiveContainer,
  NamespaceRecord,
  PodRecord,
  StatefulSetRecord,
} from './records.ts';
import { selectorOf } from './selects.ts';

// Converts objects of the API server into records. `null` for an object that does not concern this program, for example
// a pod with MOCO's labels and a name that no StatefulSet gives.
//
// Tenants write these objects, and the API server accepts more than a megabyte for each. So a record has at most a few
// kilobytes, and a projection takes time proportional to the size of its object. It throws a `RangeError` for an object
// beyond these limits, which is then skipped.

const prefix = 'moco-';

const mostLabelCharacters = 8 * 1024;
/** The API server accepts 256 KiB. Annotations are kept only for pods that may be updated in place. */
const mostAnnotationCharacters = 32 * 1024;
/** Init containers included. */
const mostContainers = 64;
const mostConditions = 64;
const mostMessageCharacters = 1024;
/** The maximum number of requirements of a selector; MOCO's own has three. */
const mostRequirements = 32;
const mostSelectorWords = 128;
const mostSelectorCharacters = 4 * 1024;

const message = (value: unknown): string | null => {
  const given = text(value);
  return given === null ? null : shortened(given, mostMessageCharacters);
};

/** The name of the StatefulSet, the PodDisruptionBudget and the headless Service of a cluster. */
export const statefulSetName = (clusterName: string): string => `${prefix}${clusterName}`;

/** For the revision `moco-test-5897fd84f8` this is `5897fd84f8`, which users see in the labels of pods. */
export function revisionHash(revision: string, clusterName: string): string {
  const stem = `${statefulSetName(clusterName)}-`;
  return revision.startsWith(stem) ? revision.slice(stem.length) : revision;
}

/** The Job by which MOCO restores a new cluster. It has the labels of a backup. */
const restoreName = (clusterName: string): string => `${prefix}restore-${clusterName}`;

/** The label selector for the pods and StatefulSets that MOCO creates for members. */
export const memberSelector = `${createdByLabel}=${createdByMoco},${appNameLabel}=${appNameOfMoco}`;
export const createdBySelector = `${createdByLabel}=${createdByMoco}`;
/**
 * The label selector for the Jobs of backups and restores. A Job that a person creates from MOCO's CronJob has the
 * labels of its template (MOCO 0.36, `labelSetForJob`).
 */
export const jobSelector = `${createdBySelector},${appNameLabel}=${appNameOfBackup}`;
/** The same, for one cluster. */
export const jobSelectorOf = (clusterName: string): string => `${jobSelector},${clusterNameLabel}=${clusterName}`;

/** An annotation has a meaning only with exactly this value. */
const isOn = (annotations: Json, name: string): boolean => annotations[name] === annotationOn;

function meta(raw: Json) {
  const metadata = object(raw['metadata']);
  return {
    ...identityOf(raw),
    deletionTimestamp: text(metadata['deletionTimestamp']),
    labels: fewTexts(metadata['labels'], mostLabelCharacters, 'labels'),
    annotations: object(metadata['annotations']),
    metadata,
  };
}

export function projectCluster(raw: Json): ClusterRecord | null {
  const { annotations, metadata: _, deletionTimestamp, ...own } = meta(raw);
  const spec = object(raw['spec']);
  const status = object(raw['status']);
  const isTrue = (type: string): boolean => conditionOf(status, type)['status'] === 'True';
  const ours = conditionOf(status, rolloutCompleteCondition);
  const succeeded = conditionOf(status, 'ReconcileSuccess');
  return {
    ...own,
    deleting: deletionTimestamp !== null,
    replicas: whole(spec['replicas'], 0),
    offline: spec['offline'] === true,
    replicatesFromElsewhere: text(spec['replicationSourceSecretName']) !== null,
    hasBackupPolicy: text(spec['backupPolicyName']) !== null,
    // MOCO has not written it yet. MOCO also reads the absent field as 0.
    primaryIndex: status['currentPrimaryIndex'] === undefined ? 0 : whole(status['currentPrimaryIndex'], -1),
    syncedReplicas: whole(status['syncedReplicas'], 0),
    errantOrdinals: Array.isArray(status['errantReplicaList'])
      ? status['errantReplicaList'].slice(0, mostReplicas).map((ordinal) => whole(ordinal, -1))
      : [],
    reconciledGeneration: whole(object(status['reconcileInfo'])['generation'], 0),
    succeededGeneration: succeeded['status'] === 'True' ? whole(succeeded['observedGeneration'], 0) : null,
    initialized: isTrue('Initialized'),
    available: isTrue('Available'),
    healthy: isTrue('Healthy'),
    mocoState: mocoStates.find((state) => state === conditionOf(status, 'Healthy')['reason']) ?? null,
    reconciliationStopped: isOn(annotations, reconciliationStoppedAnnotation),
    clusteringStopped: isOn(annotations, clusteringStoppedAnnotation),
    forcedRollingUpdate: isOn(annotations, forceRollingUpdateAnnotation),
    released: isOn(annotations, releasedAnnotation),
    templateWriters: writersOf(raw, 'podTemplate'),
    rolloutComplete:
      ours['type'] === undefined
        ? null
        : {
            status: ours['status'] === 'True',
            reason: text(ours['reason']) ?? '',
            observedGeneration: whole(ours['observedGeneration'], 0),
          },
  };
}

export function projectStatefulSet(raw: Json): StatefulSetRecord | null {
  const { annotations, labels, metadata, deletionTimestamp, ...own } = meta(raw);
  const clusterName = labels[clusterNameLabel];
  if (clusterName === undefined || own.name !== statefulSetName(clusterName)) return null;
  const spec = object(raw['spec']);
  const status = object(raw['status']);
  const partition = whole(object(object(spec['updateStrategy'])['rollingUpdate'])['partition'], -1);
  return {
    ...own,
    clusterName,
    managers: newestManagers(metadata['managedFields']),
    templateWriters: writersOf(raw, 'template'),
    deleting: deletionTimestamp !== null,
    observed: whole(status['observedGeneration'], 0) >= own.generation,
    replicas: whole(spec['replicas'], 0),
    currentRevision: text(status['currentRevision']) ?? '',
    updateRevision: text(status['updateRevision']) ?? '',
    strategy: object(spec['updateStrategy'])['type'] === 'OnDelete' ? 'OnDelete' : 'RollingUpdate',
    partition: partition < 0 ? null : partition,
    labelled: labels[strategyLabel] === strategyOnDelete,
    newPods: labels[newPodsLabel] === newPodsAtCurrentRevision ? 'CurrentRevision' : 'UpdateRevision',
    forcedRollingUpdate: isOn(annotations, forceRollingUpdateAnnotation),
    mysqld: mysqldIn(object(object(spec['template'])['spec'])),
    containers: containerNames(object(object(spec['template'])['spec'])),
  };
}

/** The exit code after SIGKILL: from the kubelet at the end of the grace period, or from the kernel. */
const killedExitCode = 137;

function wasKilled({ state, lastState }: Json): boolean {
  const last = object(object(state)['terminated'] ?? object(lastState)['terminated']);
  return last['exitCode'] === killedExitCode;
}

const containerNames = ({ containers, initContainers }: Json): readonly string[] =>
  [...objects(containers), ...objects(initContainers)].map(({ name }) => text(name) ?? '');

/**
 * The kubelet's message when it evicts a pod because of the pod's own limits, and only then (Kubernetes 1.36,
 * pkg/kubelet/eviction/helpers.go).
 */
const ownLimits = /exceeds the (total )?limit|exceeded its local ephemeral storage limit/;

/** With `live` for every pod, otherwise only if the pod was changed before. */
function podRecord(raw: Json, isLive: boolean): PodRecord | null {
  const { annotations, labels, metadata, generation, ...own } = meta(raw);
  const clusterName = labels[clusterNameLabel];
  if (clusterName === undefined) return null;
  const stem = `${statefulSetName(clusterName)}-`;
  const suffix = own.name.startsWith(stem) ? own.name.slice(stem.length) : '';
  // No cluster that is rolled out has a member with such an ordinal.
  if (!/^\d{1,4}$/.test(suffix) || Number(suffix) >= mostReplicas) return null;
  const spec = object(raw['spec']);
  const status = object(raw['status']);
  const gates = fewObjects(spec['readinessGates'], mostConditions, 'readiness gates');
  fewObjects(status['conditions'], mostConditions + gates.length, 'conditions');
  fewObjects([spec['containers'], spec['initContainers']].flat(), mostContainers, 'containers');
  const ready = conditionOf(status, 'Ready');
  const scheduled = conditionOf(status, 'PodScheduled');
  const disruption = conditionOf(status, 'DisruptionTarget');
  const { managedFields } = metadata;
  const wasChanged = annotations[restartInPlaceAnnotation] !== undefined || resizedAt(managedFields) !== null;
  return {
    ...own,
    clusterName,
    node: text(spec['nodeName']),
    ordinal: Number(suffix),
    labels,
    createdAt: text(metadata['creationTimestamp']) ?? '',
    revision: labels[revisionHashLabel] ?? '',
    revisionSetAt: labelSetAt(managedFields, revisionHashLabel),
    role: roleOf(labels[roleLabel]),
    phase: phaseOf(status['phase']),
    ready: ready['status'] === 'True',
    readyChangedAt: text(ready['lastTransitionTime']),
    containersReadyChangedAt: text(conditionOf(status, 'ContainersReady')['lastTransitionTime']),
    readinessGateClosed: gates.some(
      (gate) => conditionOf(status, text(gate['conditionType']) ?? '')['status'] !== 'True',
    ),
    unschedulable:
      scheduled['status'] === 'False' && scheduled['reason'] === 'Unschedulable'
        ? (message(scheduled['message']) ?? 'no reason given')
        : null,
    failedReason: status['phase'] === 'Failed' ? message(status['reason']) : null,
    disruption: disruption['status'] === 'True' ? (message(disruption['reason']) ?? 'no reason given') : null,
    rejected: wasRejected(status, managedFields),
    exceededLimits: status['reason'] === 'Evicted' && ownLimits.test(text(status['message']) ?? ''),
    controller: text(objects(metadata['ownerReferences']).find((one) => one['controller'] === true)?.['uid']),
    startupSeconds: startupSeconds(spec),
    mysqld: mysqldIn(spec),
    mysqldKilled: wasKilled(named(status['containerStatuses'], mysqldContainer)),
    imageId: text(named(status['containerStatuses'], mysqldContainer)['imageID']) || null,
    containers: withStatus(spec['containers'], status['containerStatuses'], containerOf),
    initContainers: withStatus(spec['initContainers'], status['initContainerStatuses'], containerOf),
    graceSeconds: whole(metadata['deletionGracePeriodSeconds'], whole(spec['terminationGracePeriodSeconds'], 30)),
    demote: isOn(annotations, demoteAnnotation),
    demotedFor: message(annotations[demotedForAnnotation]),
    preventDelete: isOn(annotations, preventDeleteAnnotation),
    agent: {
      ip: text(status['podIP']),
      probePort: portOf(spec, mysqldContainer, probePortName),
      metricsPort: portOf(spec, agentContainer, metricsPortName),
    },
    live:
      isLive || wasChanged
        ? {
            labels,
            annotations: fewTexts(annotations, mostAnnotationCharacters, 'annotations'),
            observed: whole(status['observedGeneration'], Number.MAX_SAFE_INTEGER) >= generation,
            containers: withStatus(spec['containers'], status['containerStatuses'], liveContainer(managedFields)),
            initContainers: withStatus(spec['initContainers'], status['initContainerStatuses'], liveContainer()),
            resize: resizeOf(status['conditions'], generation),
            resizedAt: resizedAt(managedFields),
          }
        : null,
  };
}

/** Kubernetes writes times in whole seconds. */
const timestampsMilliseconds = 1000;

/**
 * A kubelet that restarts may reject a pod that it ran before, and then reports no container of it either (`rejectPod`
 * in pkg/kubelet/kubelet.go). But it keeps the time of its first report (`startTime`, by
 * pkg/kubelet/status/status_manager.go). Only if that report was itself the rejection has nothing of the pod run.
 */
function wasRejected(status: Json, managedFields: unknown): boolean {
  if (status['phase'] !== 'Failed' || text(status['reason']) === null) return false;
  if ([...objects(status['containerStatuses']), ...objects(status['initContainerStatuses'])].length > 0) return false;
  const startedAt = milliseconds(text(status['startTime']));
  const failedAt = statusSetAt(managedFields, 'phase');
  return startedAt !== null && failedAt !== null && failedAt - startedAt <= timestampsMilliseconds;
}

export const projectPod = (raw: Json): PodRecord | null => podRecord(raw, true);

/** The fields of a pod that decisions read while updates in place are off. */
export const projectSlimPod = (raw: Json): PodRecord | null => podRecord(raw, false);

/** A value for each container of the spec. Its status is empty until the kubelet has reported. */
const withStatus = <One>(specs: unknown, statuses: unknown, of: (spec: Json, status: Json) => One): readonly One[] =>
  objects(specs).map((spec) => of(spec, named(statuses, spec['name'])));

const liveContainer =
  (managedFields?: unknown) =>
  (spec: Json, status: Json): LiveContainer => ({
    name: text(spec['name']) ?? '',
    image: text(spec['image']) ?? '',
    pulledAlways: spec['imagePullPolicy'] === 'Always',
    id: text(status['containerID']),
    ...liveResources(spec, status, managedFields),
  });

function portOf(spec: Json, container: string, name: string): number | null {
  const port = whole(named(named(spec['containers'], container)['ports'], name)['containerPort'], 0);
  return port > 0 ? port : null;
}

function startupSeconds(spec: Json): number | null {
  const probe = named(spec['containers'], mysqldContainer)['startupProbe'];
  if (probe === undefined) return null;
  const { initialDelaySeconds, periodSeconds, failureThreshold } = object(probe);
  return whole(initialDelaySeconds, 0) + whole(periodSeconds, 10) * whole(failureThreshold, 3);
}

function roleOf(label: string | undefined): PodRecord['role'] {
  return label === rolePrimary || label === roleReplica ? label : null;
}

function phaseOf(phase: unknown): PodRecord['phase'] {
  switch (phase) {
    case 'Running':
    case 'Succeeded':
    case 'Failed':
    case 'Unknown':
      return phase;
    default:
      return 'Pending';
  }
}

/** Until the kubelet has reported, a container is waiting without a reason. */
function containerOf(spec: Json, status: Json): ContainerRecord {
  const name = text(spec['name']) ?? '';
  const state = object(status['state']);
  const running = object(state['running']);
  const terminated = object(state['terminated']);
  const isRunning = state['running'] !== undefined;
  const isTerminated = state['terminated'] !== undefined;
  const reason = message(terminated['reason']) ?? message(object(state['waiting'])['reason']);
  const last = object(status['lastState'])['terminated'];
  const restarts = whole(status['restartCount'], 0);
  return {
    name,
    part: name === mysqldContainer ? 'mysqld' : name === agentContainer ? 'agent' : 'side',
    state: isRunning ? 'running' : isTerminated ? 'terminated' : 'waiting',
    reason,
    // After the first run has ended, the restart count stays at 0 until the second one is created.
    hasRun: isRunning || isTerminated || last !== undefined || restarts > 0 || reason === 'CrashLoopBackOff',
    sidecar: spec['restartPolicy'] === 'Always',
    ready: status['ready'] === true,
    started: status['started'] === true,
    restarts,
    startedAt: text(running['startedAt']),
    finishedAt: text(terminated['finishedAt']) ?? text(object(last)['finishedAt']),
  };
}

export function projectBudget(raw: Json): BudgetRecord | null {
  const { generation, ...own } = identityOf(raw);
  const spec = object(raw['spec']);
  const status = object(raw['status']);
  return {
    ...own,
    selector: (spec['selector'] ?? null) === null ? null : smallSelectorOf(spec['selector']),
    observed: whole(status['observedGeneration'], -1) >= generation,
    disruptionsAllowed: whole(status['disruptionsAllowed'], 0),
    currentHealthy: whole(status['currentHealthy'], 0),
    desiredHealthy: whole(status['desiredHealthy'], 0),
    disruptedPods: texts(status['disruptedPods']),
    closed: spec['maxUnavailable'] === 0 || spec['maxUnavailable'] === '0%',
    whose: whoseOf(raw),
  };
}

/** Selects every pod, which can only delay a step: Kubernetes does not know its operator. */
const tooLarge: LabelSelector = {
  matchLabels: {},
  matchExpressions: [{ key: '', operator: 'TooLarge', values: [] }],
};

function smallSelectorOf(raw: unknown): LabelSelector {
  const selector = selectorOf(raw);
  const { matchLabels, matchExpressions } = selector;
  const labels = Object.entries(matchLabels);
  if (labels.length + matchExpressions.length > mostRequirements) return tooLarge;
  const words = [...labels, ...matchExpressions.map(({ key, operator, values }) => [key, operator, ...values])].flat();
  const characters = words.reduce((sum, word) => sum + word.length, 0);
  return words.length > mostSelectorWords || characters > mostSelectorCharacters ? tooLarge : selector;
}

/**
 * `null` unless it is active. A Job is over once it is Complete or Failed; until then its controller creates pods. It
 * creates none while the Job is suspended or being deleted; existing ones continue.
 */
export function projectJob(raw: Json): JobRecord | null {
  const { labels, metadata, deletionTimestamp, annotations: _, generation: __, ...own } = meta(raw);
  const clusterName = labels[clusterNameLabel];
  const status = object(raw['status']);
  const isOver = ['Complete', 'Failed'].some((type) => conditionOf(status, type)['status'] === 'True');
  const createsPods = object(raw['spec'])['suspend'] !== true && deletionTimestamp === null;
  const pods = whole(status['active'], 0) + whole(status['terminating'], 0);
  if (clusterName === undefined || isOver || (!createsPods && pods === 0)) return null;
  const startedAt = text(status['startTime']) ?? text(metadata['creationTimestamp']) ?? '';
  return { ...own, clusterName, restores: own.name === restoreName(clusterName), startedAt };
}

export function projectClaim(raw: Json): ClaimRecord {
  const { namespace, name, uid, resourceVersion, annotations } = meta(raw);
  return { namespace, name, uid, resourceVersion, data: parseDataRecord(text(annotations[dataAnnotation])) };
}

export function projectNamespace(raw: Json): NamespaceRecord {
  const { namespace, name, uid, resourceVersion, labels } = meta(raw);
  return { namespace, name, uid, resourceVersion, labels };
}
