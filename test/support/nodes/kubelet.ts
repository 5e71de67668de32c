import { mysqldContainer } from '../../../src/moco/names.ts';
import { type Moment, timestamp } from '../moment.ts';
import { adopt } from './adopt.ts';
import { advance, nextChange } from './advance.ts';
import { type ContainerMemory, type ContainerRole, freshContainer, isDone, isRunning, withImage } from './container.ts';
import { endAt, endContainers } from './ending.ts';
import { lostNodeStep } from './lost-node.ts';
import { type Container, type Pod } from './objects.ts';
import { faultOf, type KubeletInput, type KubeletStep, type Moving, type PodMemory, target } from './pod-memory.ts';
import { podStatus } from './pod-status.ts';
import { alive, hasStarted, livenessFailsAt, nextProbes, probed } from './probes.ts';
import { isRefused, refusedStep } from './refused.ts';
import { restartsForResize, withResources } from './resize.ts';
import { deadlineOf, overStep, runOnce, runsOnce } from './run-once.ts';
import { scheduleStep } from './scheduler.ts';
import type { PodWrite } from './write.ts';

/** One run for one pod: the actions of its scheduler, kubelet or node controller. */
export function kubeletStep(input: KubeletInput): KubeletStep {
  const { pod, faults } = input;
  const memory = observe(input);
  if (pod.spec.nodeName === undefined) {
    return scheduleStep({ ...input, memory });
  }
  if (faults.nodeLost) {
    return lostNodeStep({ ...input, memory });
  }
  if (isRefused(pod)) {
    return refusedStep({ ...input, memory });
  }
  const over = runsOnce(pod) && memory.terminatingSince === null ? overStep({ ...input, memory }) : null;
  if (over !== null) {
    return over;
  }
  const moved = runsOnce(pod) ? runOnce({ ...input, memory }) : move({ ...input, memory });
  const { write, memory: after } = statusWrite(input, moved);
  if (write !== null) {
    return { memory: after, writes: [write], requeueAfterMilliseconds: 0 };
  }
  // The status of a pod that has ended by itself may not be seen yet. Nobody has asked for its deletion.
  const isOver = runsOnce(pod) && after.terminatingSince === null;
  return after.stopped && !isOver
    ? lastWord(after, input)
    : { memory: after, writes: [], requeueAfterMilliseconds: untilNext(after, input) };
}

/**
 * The DELETE with grace period 0 of a pod whose containers have ended (`canBeDeleted` in
 * pkg/kubelet/status/status_manager.go), repeated if the pod still exists after a while. The API server sets the grace
 * period to 0 with it and deletes the object afterwards: watches show both.
 */
function lastWord(memory: PodMemory, { pod, now, settings }: KubeletInput): KubeletStep {
  const { deleteRetryMilliseconds } = settings;
  const since = memory.lastWordAt === null ? null : now.monotonicMilliseconds - memory.lastWordAt;
  if (since !== null && since < deleteRetryMilliseconds) {
    return { memory, writes: [], requeueAfterMilliseconds: deleteRetryMilliseconds - since };
  }
  return {
    memory: { ...memory, lastWordAt: now.monotonicMilliseconds },
    writes: [{ verb: 'delete', ...target(pod), graceSeconds: 0 }],
    requeueAfterMilliseconds: deleteRetryMilliseconds,
  };
}

function observe({ pod, memory, now, faults, settings }: KubeletInput): PodMemory {
  const known = memory !== null && memory.uid === pod.metadata.uid ? memory : adopt(fresh(pod, now), pod, now);
  const terminating = pod.metadata.deletionTimestamp !== undefined;
  const isBack = known.lostSince !== null && !faults.nodeLost;
  return {
    ...known,
    ...(isBack ? unprobed(known, now.monotonicMilliseconds + settings.firstProbeMilliseconds) : {}),
    terminatingSince: terminating ? (known.terminatingSince ?? now.monotonicMilliseconds) : null,
    lostSince: faults.nodeLost ? (known.lostSince ?? now.monotonicMilliseconds) : null,
  };
}

/** A kubelet that has been away knows of no probe that has passed. */
function unprobed({ containers }: PodMemory, probedFrom: number): Pick<PodMemory, 'containers' | 'probedFrom'> {
  return {
    containers: containers.map((one) => (one.name === mysqldContainer ? { ...one, ready: false } : one)),
    probedFrom,
  };
}

function fresh(pod: Pod, now: Moment): PodMemory {
  const init = pod.spec.initContainers ?? [];
  const memoryOf = ({ name, image = '' }: Container, role: ContainerRole) =>
    freshContainer(name, image, role, init.length > 0);
  return {
    uid: pod.metadata.uid,
    seenAt: now.monotonicMilliseconds,
    startTime: pod.status?.startTime ?? null,
    startAt: null,
    terminatingSince: null,
    stopped: false,
    lastWordAt: null,
    lostSince: null,
    probedFrom: now.monotonicMilliseconds,
    initContainers: init.map((container) =>
      memoryOf(container, container.restartPolicy === 'Always' ? 'sidecar' : 'init'),
    ),
    containers: pod.spec.containers.map((container) => memoryOf(container, 'main')),
    conditions: pod.status?.conditions ?? [],
    written: '',
  };
}

/** Lets time do its work on the containers. */
function move(asked: Moving): PodMemory {
  const { now, settings } = asked;
  if (asked.memory.stopped) {
    return asked.memory;
  }
  const memory = endContainers(asked);
  if (memory.stopped) {
    return memory;
  }
  const input = { ...asked, memory };
  const initContainers = moveInitContainers(input);
  const initialized = initContainers.every(isDone);
  const startAt = memory.startAt ?? (initialized ? now.monotonicMilliseconds + settings.startMilliseconds : null);
  // Nothing is started any more in a pod that is terminating.
  const isDue = startAt !== null && now.monotonicMilliseconds >= startAt && memory.terminatingSince === null;
  // What the kubelet has begun it says once it has begun everything.
  const mayStart = isDue && !memory.containers.some((container) => isNew(container) && hangs(container, input));
  const moved = memory.containers.map((container) => moveContainer(container, mayStart, input));
  const containers = moved.map((container) => alive(container, moved, input));
  return {
    ...memory,
    startTime: memory.startTime ?? timestamp(now.wallMilliseconds),
    startAt,
    initContainers,
    containers: containers.map((container) => probed(container, containers, input)),
  };
}

const isNew = ({ state, last }: ContainerMemory): boolean => state.kind === 'waiting' && last === null;
const hangs = (container: ContainerMemory, input: Moving): boolean => faultOf(container, input) === 'hangs';

function moveInitContainers(input: Moving): readonly ContainerMemory[] {
  const { memory } = input;
  const moved: ContainerMemory[] = [];
  for (const container of memory.initContainers) {
    const mayStart = moved.every(isDone) && memory.terminatingSince === null;
    const next = moveContainer(container, mayStart, input);
    moved.push(next.role === 'sidecar' ? probed(next, [], input) : next);
  }
  return moved;
}

function moveContainer(before: ContainerMemory, mayStart: boolean, input: Moving): ContainerMemory {
  const { pod, faults, memory, now, settings } = input;
  // One that ends in a pod that is terminating stays ended.
  if (memory.terminatingSince !== null && !isRunning(before)) {
    return before;
  }
  const spec = specOf(before, pod);
  const image = spec.image ?? before.image;
  const container = withResources(withImage(before, image), spec, faults.resize);
  return advance(
    container,
    {
      fault: faultOf({ ...container, image }, input),
      restartsAsked: faults.restarts[container.name] ?? 0,
      mayStart,
      podUid: pod.metadata.uid,
      image,
      restartsForResize: faults.resize === null && restartsForResize(container, spec),
    },
    now,
    settings,
  );
}

/** As the pod has it now: an update in place changes it. */
function specOf({ name, role }: ContainerMemory, { spec }: Pod): Container {
  const containers = role === 'main' ? spec.containers : (spec.initContainers ?? []);
  return containers.find((container) => container.name === name) ?? { name };
}

function statusWrite(
  input: KubeletInput,
  memory: PodMemory,
): { readonly write: PodWrite | null; readonly memory: PodMemory } {
  const { pod, now, address } = input;
  const wallTimestamp = timestamp(now.wallMilliseconds);
  const status = podStatus(
    {
      pod,
      containers: memory.containers,
      initContainers: memory.initContainers,
      stopped: memory.stopped,
      address,
      startTime: memory.startTime ?? wallTimestamp,
      conditionsBefore: memory.conditions,
      resizeFault: input.faults.resize,
      hasStarted: (container) => hasStarted(container, input),
    },
    wallTimestamp,
  );
  const written = JSON.stringify(status);
  if (written === memory.written) {
    return { write: null, memory };
  }
  return {
    write: { verb: 'patchStatus', ...target(pod), status },
    memory: { ...memory, conditions: status.conditions, written },
  };
}

/** From now to the next moment at which something happens by itself. */
function untilNext(memory: PodMemory, input: KubeletInput): number | null {
  const { settings } = input;
  const now = input.now.monotonicMilliseconds;
  const moments = [...memory.initContainers, ...memory.containers].flatMap((container) => [
    nextChange(container, faultOf(container, input), settings),
    ...nextProbes(container, settings),
  ]);
  const ends = [...memory.initContainers, ...memory.containers]
    .filter(isRunning)
    .map(({ name }) => endAt(name, { ...input, memory }));
  const ahead = [
    ...moments,
    memory.startAt,
    memory.probedFrom,
    deadlineOf(input.pod, memory),
    livenessFailsAt(memory.containers, input),
    ...ends,
  ].filter((moment): moment is number => moment !== null && moment > now && Number.isFinite(moment));
  return ahead.length === 0 ? null : Math.min(...ahead) - now;
}
