import {
  conditionOf,
  fewTexts,
  identityOf,
  isConditionTrue,
  type Json,
  object,
  objects,
  text,
  texts,
  whole,
} from '../base/json.ts';
import { shortened } from '../base/text.ts';
import { mocoStates } from '../core/moco-state.ts';
import { mostReplicas } from '../core/situation.ts';
import { parseDataRecord } from './data-record.ts';
import { newestManagers, whoseOf, writersOf } from './managed-fields.ts';
import { mysqldIn } from './mysqld-version.ts';
import {
  annotationOn,
  clusteringStoppedAnnotation,
  clusterNameLabel,
  dataAnnotation,
  forceRollingUpdateAnnotation,
  newPodsAtCurrentRevision,
  newPodsLabel,
  reconciliationStoppedAnnotation,
  releasedAnnotation,
  restoreName,
  rolloutCompleteCondition,
  statefulSetName,
  strategyLabel,
  strategyOnDelete,
} from './names.ts';
import { type LeavingSigns, leavingReason } from './node-maintenance.ts';
import type {
  BudgetRecord,
  ClaimRecord,
  ClusterRecord,
  JobRecord,
  LabelSelector,
  NamespaceRecord,
  NodeRecord,
  StatefulSetRecord,
} from './records.ts';
import { selectorOf } from './selects.ts';

// Converts objects of the API server into records; pod-projection.ts does the same for pods. Returns `null` for an
// object that does not concern this program.
//
// Tenants write these objects, and the API server accepts more than a megabyte for each. So a record has at most a few
// kilobytes, and a projection takes time proportional to the size of its object. It throws a `RangeError` for an object
// beyond these limits, which is then skipped.

/** The limit for a pod or a pod template. It includes init containers. */
export const mostContainers = 64;
const mostLabelCharacters = 8 * 1024;
const mostMessageCharacters = 1024;
/** The maximum number of requirements of a selector; MOCO's own has three. */
const mostRequirements = 32;
const mostSelectorWords = 128;
const mostSelectorCharacters = 4 * 1024;

/** A message of Kubernetes, at most 1024 characters of it. */
export const message = (value: unknown): string | null => {
  const given = text(value);
  return given === null ? null : shortened(given, mostMessageCharacters);
};

/** Whether an annotation has the only value that turns it on. */
export const isOn = (annotations: Json, name: string): boolean => annotations[name] === annotationOn;

/** The metadata of an object, with its labels bounded. */
export function meta(raw: Json) {
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
  const ours = conditionOf(status, rolloutCompleteCondition);
  const succeeded = conditionOf(status, 'ReconcileSuccess');
  return {
    ...own,
    deleting: deletionTimestamp !== null,
    replicas: whole(spec['replicas'], 0),
    offline: spec['offline'] === true,
    replicatesFromElsewhere: text(spec['replicationSourceSecretName']) !== null,
    hasBackupPolicy: text(spec['backupPolicyName']) !== null,
    // If the field is absent, MOCO has not written it yet. MOCO also reads an absent field as 0.
    primaryIndex: status['currentPrimaryIndex'] === undefined ? 0 : whole(status['currentPrimaryIndex'], -1),
    syncedReplicas: whole(status['syncedReplicas'], 0),
    errantOrdinals: Array.isArray(status['errantReplicaList'])
      ? status['errantReplicaList'].slice(0, mostReplicas).map((ordinal) => whole(ordinal, -1))
      : [],
    reconciledGeneration: whole(object(status['reconcileInfo'])['generation'], 0),
    succeededGeneration: succeeded['status'] === 'True' ? whole(succeeded['observedGeneration'], 0) : null,
    initialized: isConditionTrue(status, 'Initialized'),
    available: isConditionTrue(status, 'Available'),
    healthy: isConditionTrue(status, 'Healthy'),
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

const containerNames = ({ containers, initContainers }: Json): readonly string[] =>
  [...objects(containers), ...objects(initContainers)].slice(0, mostContainers).map(({ name }) => text(name) ?? '');

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
    ...syncFailureOf(status['conditions']),
  };
}

/** If the disruption controller fails, it allows no disruption and reports why (`failSafe`, Kubernetes 1.36). */
function syncFailureOf(conditions: unknown): { readonly syncFailure?: string } {
  const failed = objects(conditions).find(
    ({ type, status, reason }) => type === 'DisruptionAllowed' && status === 'False' && reason === 'SyncFailed',
  );
  return failed === undefined ? {} : { syncFailure: message(failed['message']) ?? '' };
}

/**
 * Replaces a selector that is too large. It selects every pod, because Kubernetes does not know its operator. That can
 * only delay a step.
 */
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
 * `null` unless the Job is active. A Job is over once it is Complete or Failed. Until then its controller creates pods,
 * unless the Job is suspended or being deleted. Even then, existing pods continue.
 */
export function projectJob(raw: Json): JobRecord | null {
  const { labels, metadata, deletionTimestamp, annotations: _, generation: __, ...own } = meta(raw);
  const clusterName = labels[clusterNameLabel];
  const status = object(raw['status']);
  const isOver = ['Complete', 'Failed'].some((type) => isConditionTrue(status, type));
  const createsPods = object(raw['spec'])['suspend'] !== true && deletionTimestamp === null;
  const pods = whole(status['active'], 0) + whole(status['terminating'], 0);
  if (clusterName === undefined || isOver || (!createsPods && pods === 0)) return null;
  const startedAt = text(status['startTime']) ?? text(metadata['creationTimestamp']) ?? '';
  return { ...own, clusterName, restores: own.name === restoreName(clusterName), startedAt };
}

export function projectClaim(raw: Json): ClaimRecord {
  const { namespace, name, uid, resourceVersion, annotations, metadata } = meta(raw);
  const createdAt = text(metadata['creationTimestamp']) ?? '';
  const { volumeName = '', dataSource = null, dataSourceRef = null } = object(raw['spec']);
  const unbound = volumeName === '' && dataSource === null && dataSourceRef === null;
  const data = parseDataRecord(text(annotations[dataAnnotation]));
  return { namespace, name, uid, resourceVersion, createdAt, unbound, data };
}

export function projectNamespace(raw: Json): NamespaceRecord {
  const { namespace, name, uid, resourceVersion, labels } = meta(raw);
  return { namespace, name, uid, resourceVersion, labels };
}

export function projectNode(raw: Json, signs: LeavingSigns): NodeRecord {
  const { namespace, name, uid, resourceVersion } = meta(raw);
  return { namespace, name, uid, resourceVersion, leaving: leavingReason(raw, signs) };
}
