import { type Moment, timestamp } from '../moment.ts';
import {
  type ContainerMemory,
  type ContainerState,
  creating,
  initializing,
  type RunningState,
  terminated,
} from './container.ts';
import type { ContainerFault } from './faults.ts';
import type { NodesSettings } from './settings.ts';

export interface ContainerInput {
  readonly fault: ContainerFault | null;
  readonly restartsAsked: number;
  /** Everything before it is done: it may start. */
  readonly mayStart: boolean;
  /** As the pod's spec has it now. A container that runs another one is stopped, and starts again with this. */
  readonly image: string;
  /** Its `resizePolicy` makes it stop, and start with its new resources. */
  readonly restartsForResize: boolean;
  readonly podUid: string;
}

const killedExitCode = 137;
const crashExitCode = 1;

/** When it will proceed by itself, or `null`. A time in the past is no reason to run again. */
export function nextChange(
  container: ContainerMemory,
  fault: ContainerFault | null,
  settings: NodesSettings,
): number | null {
  const { state } = container;
  if (state.kind === 'terminated' && state.unseen && state.until !== null) {
    return state.until + settings.pullMilliseconds;
  }
  if (state.kind !== 'running') {
    return state.until;
  }
  if (fault === 'crashLoop') {
    return state.since + settings.crashAfterMilliseconds;
  }
  return container.role === 'init' && fault !== 'hangs' ? state.since + settings.initMilliseconds : null;
}

/** The container's next state, or the same object if nothing has changed. */
export function advance(
  container: ContainerMemory,
  input: ContainerInput,
  now: Moment,
  settings: NodesSettings,
): ContainerMemory {
  switch (container.state.kind) {
    case 'waiting':
      return advanceWaiting(container, container.state, input, now, settings);
    case 'running':
      return advanceRunning(container, container.state, input, now, settings);
    case 'terminated':
      return advanceTerminated(container, container.state, input, now, settings);
  }
}

function advanceWaiting(
  container: ContainerMemory,
  state: Extract<ContainerState, { kind: 'waiting' }>,
  { fault, mayStart, podUid }: ContainerInput,
  now: Moment,
  settings: NodesSettings,
): ContainerMemory {
  const due = state.until !== null && now.monotonicMilliseconds >= state.until;
  switch (state.reason) {
    case creating:
    case initializing:
      if (!mayStart) {
        return container;
      }
      if (fault === 'imagePull') {
        return waiting(container, 'ErrImagePull', now.monotonicMilliseconds + settings.imagePullMilliseconds);
      }
      return run(container, podUid, now);
    case 'ErrImagePull':
    case 'ImagePullBackOff':
      if (fault !== 'imagePull') {
        return container.last === null ? run(container, podUid, now) : restart(container, podUid, now);
      }
      return due
        ? waiting(
            container,
            state.reason === 'ErrImagePull' ? 'ImagePullBackOff' : 'ErrImagePull',
            now.monotonicMilliseconds + settings.imagePullMilliseconds,
          )
        : container;
    default:
      // CrashLoopBackOff. After the fault is removed the rest of it is skipped.
      return due || (fault !== 'crashLoop' && fault !== 'dead') ? restart(container, podUid, now) : container;
  }
}

function advanceRunning(
  container: ContainerMemory,
  state: RunningState,
  input: ContainerInput,
  now: Moment,
  settings: NodesSettings,
): ContainerMemory {
  const { fault, restartsAsked, image, restartsForResize } = input;
  const age = now.monotonicMilliseconds - state.since;
  if (fault === 'dead') {
    return end({ ...container, crashes: container.crashes + 1 }, state, killedExitCode, now, settings);
  }
  if (fault === 'crashLoop') {
    return age >= settings.crashAfterMilliseconds
      ? end({ ...container, crashes: container.crashes + 1 }, state, crashExitCode, now, settings)
      : container;
  }
  if (container.role === 'init') {
    return fault !== 'hangs' && age >= settings.initMilliseconds ? end(container, state, 0, now, settings) : container;
  }
  if (restartsAsked > container.restartsMade) {
    return end({ ...container, restartsMade: restartsAsked }, state, crashExitCode, now, settings);
  }
  return image !== container.image || restartsForResize ? restarting(container, state, 0, now, settings) : container;
}

/** The first restart is immediate; later ones back off. */
function advanceTerminated(
  before: ContainerMemory,
  state: Extract<ContainerState, { kind: 'terminated' }>,
  { fault, podUid, image }: ContainerInput,
  now: Moment,
  settings: NodesSettings,
): ContainerMemory {
  const pull = image !== before.image ? settings.pullMilliseconds : 0;
  if (state.until === null || now.monotonicMilliseconds < state.until + pull) {
    return before;
  }
  const container = { ...before, image };
  if (fault === 'dead') {
    return waiting({ ...container, last: state.how }, 'CrashLoopBackOff', null);
  }
  if (fault === 'imagePull') {
    const until = now.monotonicMilliseconds + settings.imagePullMilliseconds;
    return waiting({ ...container, last: state.how }, 'ErrImagePull', until);
  }
  if (fault === 'crashLoop' && container.crashes > 1) {
    const backOff = Math.min(
      settings.backOffMilliseconds * 2 ** (container.crashes - 2),
      settings.longestBackOffMilliseconds,
    );
    return waiting({ ...container, last: state.how }, 'CrashLoopBackOff', now.monotonicMilliseconds + backOff);
  }
  return restart({ ...container, last: state.how }, podUid, now);
}

function waiting(container: ContainerMemory, reason: string, until: number | null): ContainerMemory {
  return { ...container, ready: false, state: { kind: 'waiting', reason, until } };
}

function run(container: ContainerMemory, podUid: string, now: Moment): ContainerMemory {
  const id = `stand-in://${podUid}/${container.name}/${container.restarts}`;
  const startedAt = timestamp(now.wallMilliseconds);
  return { ...container, ready: false, state: { kind: 'running', since: now.monotonicMilliseconds, startedAt, id } };
}

function restart(container: ContainerMemory, podUid: string, now: Moment): ContainerMemory {
  return run({ ...container, restarts: container.restarts + 1 }, podUid, now);
}

/** The kubelet ends it, pulls its image if that is another one, and starts it again, before it says anything more. */
export function restarting(
  container: ContainerMemory,
  state: RunningState,
  exitCode: number,
  now: Moment,
  settings: NodesSettings,
): ContainerMemory {
  const ended = end(container, state, exitCode, now, settings);
  return ended.state.kind === 'terminated'
    ? { ...ended, ready: container.ready, state: { ...ended.state, unseen: true } }
    : ended;
}

/** It ends, and starts again after a moment unless it is an init container that has succeeded. */
export function end(
  container: ContainerMemory,
  state: RunningState,
  exitCode: number,
  now: Moment,
  settings: NodesSettings,
): ContainerMemory {
  const how = terminated(state, exitCode, now);
  const isDone = container.role === 'init' && exitCode === 0;
  const until = isDone ? null : now.monotonicMilliseconds + settings.restartMilliseconds;
  const endedAt = now.monotonicMilliseconds;
  return { ...container, ready: false, endedAt, state: { kind: 'terminated', how, until } };
}
