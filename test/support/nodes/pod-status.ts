import { type ContainerMemory, isDone, isRunning, unknownStatus } from './container.ts';
import type { ResizeFault } from './faults.ts';
import type { ContainerStateStatus, ContainerStatus, Pod, PodCondition, Resources } from './objects.ts';

import { resizeFinding } from './resize.ts';

/** Whether a condition holds, and its reason and message while it does not. */
interface Finding {
  readonly type: string;
  readonly holds: boolean;
  readonly reason?: string;
  readonly message?: string;
}

export interface PodStatusInput {
  readonly pod: Pod;
  readonly containers: readonly ContainerMemory[];
  readonly initContainers: readonly ContainerMemory[];
  /** Its containers have been ended for good. */
  readonly stopped: boolean;
  readonly address: string;
  readonly startTime: string;
  /** Conditions as they were last written: a condition keeps its time while its status stays. */
  readonly conditionsBefore: readonly PodCondition[];
  readonly resizeFault: ResizeFault | null;
  readonly hasStarted: (container: ContainerMemory) => boolean;
}

const messages: Readonly<Record<string, string>> = {
  ErrImagePull: 'failed to pull and unpack image: not found',
  ImagePullBackOff: 'Back-off pulling image',
  CrashLoopBackOff: 'back-off restarting failed container',
};

function stateOf({ state }: ContainerMemory): ContainerStateStatus {
  switch (state.kind) {
    case 'waiting': {
      const message = messages[state.reason];
      return { waiting: { reason: state.reason, ...(message === undefined ? {} : { message }) } };
    }
    case 'running':
      return { running: { startedAt: state.startedAt } };
    case 'terminated':
      return state.unseen ? { running: { startedAt: state.how.startedAt } } : { terminated: state.how };
  }
}

function idOf({ state, last }: ContainerMemory): string | undefined {
  switch (state.kind) {
    case 'waiting':
      return last?.containerID;
    case 'running':
      return state.id;
    case 'terminated':
      return state.how.containerID;
  }
}

function containerStatus(container: ContainerMemory, started: boolean): ContainerStatus {
  const containerID = idOf(container);
  return {
    name: container.name,
    ready: container.role === 'init' ? isDone(container) : container.ready,
    started: container.role === 'init' ? isRunning(container) : started,
    restartCount: container.restarts,
    state: stateOf(container),
    lastState: container.last === null ? {} : { terminated: container.last },
    image: container.image,
    imageID: containerID === undefined ? '' : `stand-in://image/${container.image}`,
    ...(containerID === undefined ? {} : { containerID }),
    ...(container.resources === null || containerID === undefined
      ? {}
      : { resources: shownResources(container.resources) }),
  };
}

function shownResources({ limits, requests }: Resources): Partial<Resources> {
  const isGiven = (list: Readonly<Record<string, string>>): boolean => Object.keys(list).length > 0;
  return { ...(isGiven(limits) ? { limits } : {}), ...(isGiven(requests) ? { requests } : {}) };
}

/** Kubernetes' own order of questions: a container that has never run keeps the pod Pending. */
function phase({ pod, containers, initContainers, stopped }: PodStatusInput): string {
  if (stopped) {
    const isUnknown = ({ state }: ContainerMemory): boolean =>
      state.kind === 'terminated' && state.how.reason === unknownStatus;
    const hasFailed = ({ state }: ContainerMemory): boolean => state.kind === 'terminated' && state.how.exitCode !== 0;
    const fails = pod.spec.restartPolicy === 'Never' ? hasFailed : isUnknown;
    return containers.some(fails) ? 'Failed' : 'Succeeded';
  }
  const neverRan = ({ state, last }: ContainerMemory): boolean => state.kind === 'waiting' && last === null;
  return initContainers.every(isDone) && !containers.some(neverRan) ? 'Running' : 'Pending';
}

function names(containers: readonly ContainerMemory[]): string {
  return `[${containers.map(({ name }) => name).join(' ')}]`;
}

function findings(input: PodStatusInput): readonly Finding[] {
  const { pod, containers, initContainers, stopped } = input;
  const incomplete = initContainers.filter((container) => !isDone(container));
  const sidecars = initContainers.filter(({ role }) => role === 'sidecar');
  const unready = [...sidecars, ...containers].filter(({ ready }) => !ready);
  const containersReady: Omit<Finding, 'type'> = stopped
    ? { holds: false, reason: 'PodCompleted' }
    : unready.length === 0
      ? { holds: true }
      : { holds: false, reason: 'ContainersNotReady', message: `containers with unready status: ${names(unready)}` };
  const closedGate = pod.spec.readinessGates?.find(
    ({ conditionType }) =>
      !pod.status?.conditions?.some(({ type, status }) => type === conditionType && status === 'True'),
  );
  const ready: Omit<Finding, 'type'> =
    containersReady.holds && closedGate !== undefined
      ? {
          holds: false,
          reason: 'ReadinessGatesNotReady',
          message: `corresponding condition of pod readiness gate "${closedGate.conditionType}" does not exist or is not True.`,
        }
      : containersReady;
  return [
    { type: 'PodReadyToStartContainers', holds: !stopped },
    incomplete.length === 0
      ? { type: 'Initialized', holds: true, ...(stopped ? { reason: 'PodCompleted' } : {}) }
      : {
          type: 'Initialized',
          holds: false,
          reason: 'ContainersNotInitialized',
          message: `containers with incomplete status: ${names(incomplete)}`,
        },
    { type: 'Ready', ...ready },
    { type: 'ContainersReady', ...containersReady },
    { type: 'PodScheduled', holds: true },
    ...resizeFinding(pod, containers, input.resizeFault),
  ];
}

/** A condition; `before` is its previous version, whose time is kept while the status stays. */
export function condition(
  pod: Pod,
  { type, holds, reason, message }: Finding,
  before: readonly PodCondition[],
  wallTimestamp: string,
): PodCondition {
  const status = holds ? 'True' : 'False';
  const old = before.find((candidate) => candidate.type === type);
  const { generation } = pod.metadata;
  return {
    type,
    status,
    // Null, not absent: a merge patch removes a field only by null.
    reason: reason ?? null,
    message: message ?? null,
    lastTransitionTime: old?.status === status ? (old.lastTransitionTime ?? wallTimestamp) : wallTimestamp,
    ...(generation === undefined ? {} : { observedGeneration: generation }),
  };
}

/** What a kubelet of Kubernetes 1.35 writes to `/status` of a pod. */
export function podStatus(
  input: PodStatusInput,
  wallTimestamp: string,
): Readonly<Record<string, unknown>> & { readonly conditions: readonly PodCondition[] } {
  const { pod, containers, initContainers, address, startTime } = input;
  const { generation } = pod.metadata;
  return {
    phase: phase(input),
    ...(generation === undefined ? {} : { observedGeneration: generation }),
    hostIP: '127.0.0.1',
    hostIPs: [{ ip: '127.0.0.1' }],
    podIP: address,
    podIPs: [{ ip: address }],
    startTime,
    conditions: findings(input).map((finding) => condition(pod, finding, input.conditionsBefore, wallTimestamp)),
    ...(initContainers.length === 0
      ? {}
      : {
          initContainerStatuses: initContainers.map((container) =>
            containerStatus(container, input.hasStarted(container)),
          ),
        }),
    containerStatuses: containers.map((container) => containerStatus(container, input.hasStarted(container))),
  };
}
