import {
  conditionOf,
  fewObjects,
  fewTexts,
  isConditionTrue,
  type Json,
  milliseconds,
  named,
  object,
  objects,
  text,
  whole,
} from '../base/json.ts';
import { mostReplicas } from '../core/situation.ts';
import { metricsPortName, probePortName } from './agent.ts';
import { liveResources, resizedAt, resizeOf } from './in-place/live-resources.ts';
import { labelSetAt, statusSetAt } from './managed-fields.ts';
import { mysqldIn } from './mysqld-version.ts';
import {
  agentContainer,
  clusterNameLabel,
  demoteAnnotation,
  demotedForAnnotation,
  mysqldContainer,
  preventDeleteAnnotation,
  restartInPlaceAnnotation,
  revisionHashLabel,
  roleLabel,
  rolePrimary,
  roleReplica,
  statefulSetName,
} from './names.ts';
import { isOn, message, meta, mostContainers } from './projections.ts';
import type { ContainerRecord, LiveContainer, PodRecord } from './records.ts';

// Converts pods of members into records. Returns `null` for a pod that does not concern this program, for example one
// with MOCO's labels and a name that no StatefulSet generates. The limits are those of projections.ts.

/**
 * The API server accepts 256 KiB of annotations. Records contain annotations only for pods that may be updated in
 * place.
 */
const mostAnnotationCharacters = 32 * 1024;
const mostConditions = 64;

/** The exit code after SIGKILL, either from the kubelet at the end of the grace period or from the kernel. */
const killedExitCode = 137;

function wasKilled({ state, lastState }: Json): boolean {
  const last = object(object(state)['terminated'] ?? object(lastState)['terminated']);
  return last['exitCode'] === killedExitCode;
}

/**
 * The message with which the kubelet evicts a pod because of the pod's own limits. The kubelet uses it in no other case
 * (Kubernetes 1.36, pkg/kubelet/eviction/helpers.go).
 */
const ownLimits = /exceeds the (total )?limit|exceeded its local ephemeral storage limit/;

/**
 * If `isLive` is true, every record contains `live`. Otherwise only the record of a pod that this program has changed
 * contains it.
 */
function podRecord(raw: Json, isLive: boolean): PodRecord | null {
  const { annotations, labels, metadata, generation, ...own } = meta(raw);
  const clusterName = labels[clusterNameLabel];
  if (clusterName === undefined) return null;
  const stem = `${statefulSetName(clusterName)}-`;
  const suffix = own.name.startsWith(stem) ? own.name.slice(stem.length) : '';
  // A pod with an ordinal beyond this limit is skipped, so its cluster is not rolled out.
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
    readinessGateClosed: gates.some((gate) => !isConditionTrue(status, text(gate['conditionType']) ?? '')),
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
 * Whether the kubelet rejected the pod before any container ran. A kubelet that restarts may also reject a pod that it
 * ran before, and then no longer reports any of the pod's containers (`rejectPod` in pkg/kubelet/kubelet.go). But it
 * keeps the time of its first report (`startTime`, by pkg/kubelet/status/status_manager.go). No container has run if
 * the rejection was the first report.
 */
function wasRejected(status: Json, managedFields: unknown): boolean {
  if (status['phase'] !== 'Failed' || text(status['reason']) === null) return false;
  if ([...objects(status['containerStatuses']), ...objects(status['initContainerStatuses'])].length > 0) return false;
  const startedAt = milliseconds(text(status['startTime']));
  const failedAt = statusSetAt(managedFields, 'phase');
  return startedAt !== null && failedAt !== null && failedAt - startedAt <= timestampsMilliseconds;
}

export const projectPod = (raw: Json): PodRecord | null => podRecord(raw, true);

/** The fields of a pod that decisions read while in-place updates are off. */
export const projectSlimPod = (raw: Json): PodRecord | null => podRecord(raw, false);

/** A value for each container of the spec. The container's status is empty until the kubelet has reported it. */
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

/** Until the kubelet has reported a container, it counts as waiting without a reason. */
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
    // The restart count is still 0 between the end of the first run and the creation of the second run.
    hasRun: isRunning || isTerminated || last !== undefined || restarts > 0 || reason === 'CrashLoopBackOff',
    sidecar: spec['restartPolicy'] === 'Always',
    ready: status['ready'] === true,
    started: status['started'] === true,
    restarts,
    startedAt: text(running['startedAt']),
    finishedAt: text(terminated['finishedAt']) ?? text(object(last)['finishedAt']),
  };
}
