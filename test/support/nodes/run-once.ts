import { timestamp } from '../moment.ts';
import { advance } from './advance.ts';
import { type ContainerMemory, stopped, terminated, unknownStatus } from './container.ts';
import type { ContainerFault } from './faults.ts';
import { type Pod } from './objects.ts';
import { type KubeletStep, type Moving, type PodMemory, target } from './pod-memory.ts';

/** Kubernetes' Job controller gives it to the pods of a Job. */
const jobNameLabel = 'batch.kubernetes.io/job-name';

/** A pod whose containers run once and end, as those that fetch images. What a Job does takes as long as its test says. */
export const runsOnce = ({ metadata, spec }: Pod): boolean =>
  spec.restartPolicy === 'Never' && metadata.labels?.[jobNameLabel] === undefined;

const isOver = ({ status }: Pod): boolean => status?.phase === 'Succeeded' || status?.phase === 'Failed';

/** When it fails if it has not ended by then, on the monotonic clock. */
export const deadlineOf = ({ spec }: Pod, { seenAt }: PodMemory): number | null =>
  spec.activeDeadlineSeconds === undefined ? null : seenAt + spec.activeDeadlineSeconds * 1000;

/** Nothing is done any more to one that has ended by itself or has failed. `null` for one that has not. */
export function overStep({ pod, memory, now }: Moving): KubeletStep | null {
  const rest = { memory, writes: [], requeueAfterMilliseconds: null };
  if (isOver(pod)) return rest;
  if (now.monotonicMilliseconds < (deadlineOf(pod, memory) ?? Number.POSITIVE_INFINITY)) return null;
  const message = 'Pod was active on the node longer than the specified deadline';
  const status = { phase: 'Failed', reason: 'DeadlineExceeded', message };
  return { ...rest, writes: [{ verb: 'patchStatus', ...target(pod), status }] };
}

/** The images that its containers run and those that it mounts, of which nothing runs. */
export const imagesOf = ({ spec: { containers, volumes = [] } }: Pod): readonly string[] => [
  ...new Set(
    [...containers, ...volumes.map(({ image }) => ({ image: image?.reference }))].flatMap(({ image }) => image ?? []),
  ),
];

/**
 * Its kubelet fetches every image, one after the other, and says of the container why one can't be had (1.36: an image of
 * a volume as well). Then its containers run for a moment and end by themselves.
 */
export function runOnce(input: Moving): PodMemory {
  const { memory, pod, now, settings, faults } = input;
  if (memory.stopped) return memory;
  if (memory.terminatingSince !== null) {
    const containers = memory.containers.map((container) => lost(container, input));
    return faults.hangsTerminating ? memory : { ...memory, containers, stopped: true };
  }
  const { nodeName = '' } = pod.spec;
  const fetching = imagesOf(pod).reduce((sum, image) => sum + settings.fetchMilliseconds(nodeName, image), 0);
  const startAt = memory.startAt ?? now.monotonicMilliseconds + fetching;
  const isDue = now.monotonicMilliseconds >= startAt;
  const containers = memory.containers.map((container) => moveContainer(container, isDue, input));
  return {
    ...memory,
    startTime: memory.startTime ?? timestamp(now.wallMilliseconds),
    startAt,
    containers,
    stopped: containers.every(({ state }) => state.kind === 'terminated'),
  };
}

/** Of one that has never run the kubelet of a deleted pod says that it can't find it. */
function lost(container: ContainerMemory, { now }: Moving): ContainerMemory {
  if (container.state.kind === 'terminated') return container;
  const at = timestamp(now.wallMilliseconds);
  const how = { exitCode: 137, reason: unknownStatus, startedAt: at, finishedAt: at, containerID: '' };
  return { ...container, ready: false, state: { kind: 'terminated', how, until: null } };
}

function moveContainer(container: ContainerMemory, isDue: boolean, input: Moving): ContainerMemory {
  if (container.state.kind === 'terminated') return container;
  const { now, settings, pod } = input;
  const fault = faultOf(container, input);
  const moved = advance(
    container,
    {
      fault: fault === 'imagePull' ? fault : null,
      restartsAsked: 0,
      mayStart: isDue && fault !== 'hangs',
      podUid: pod.metadata.uid,
      image: container.image,
      restartsForResize: false,
    },
    now,
    settings,
  );
  if (moved.state.kind !== 'running') return moved;
  const args = pod.spec.containers.find(({ name }) => name === container.name)?.args ?? [];
  if (!args.includes('--initialize')) return stopped(moved, now);
  const how = { ...terminated(moved.state, 1, now), message: unusableDirectory };
  return { ...moved, ready: false, state: { kind: 'terminated', how, until: null } };
}

/** The version of every mysqld that is asked for one. */
export const printedVersion = '8.4.9';
/** What mysqld prints if its data directory cannot be made (9.7.4). */
const unusableDirectory = [
  "mysqld: Can't create directory '/dev/null/none/' (OS errno 20 - Not a directory)",
  `2026-11-28T23:15:48.263432Z 0 [System] [MY-013169] [Server] /usr/sbin/mysqld (mysqld ${printedVersion}) initializing of server in progress as process 1`,
  '2026-11-28T23:15:48.272900Z 0 [ERROR] [MY-013236] [Server] The designated data directory /dev/null/none/ is unusable.',
].join('\n');

/** What keeps an image from being fetched. */
function faultOf({ name }: ContainerMemory, { pod, faults, settings }: Moving): ContainerFault | null {
  const given = faults.containers[name];
  if (given !== undefined) return given;
  const found = imagesOf(pod).map((image) => settings.imageFault(image, false));
  return found.find((fault) => fault === 'imagePull') ?? found.find((fault) => fault === 'hangs') ?? null;
}
