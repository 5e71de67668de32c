import type { ContainerFault } from './faults.ts';
import { type Moment, type Terminated, timestamp } from './objects.ts';
import type { NodesSettings } from './settings.ts';

/** `until` is when it proceeds by itself, on the monotonic clock; `null`: not by time. */
export type ContainerState =
  | { readonly kind: 'waiting'; readonly reason: string; readonly until: number | null }
  | { readonly kind: 'running'; readonly since: number; readonly startedAt: string; readonly id: string }
  | { readonly kind: 'terminated'; readonly how: Terminated; readonly until: number | null };

/** An init container ends before the next one starts, unless it is a sidecar. */
export type ContainerRole = 'init' | 'sidecar' | 'main';

/** What a kubelet knows of one container of a pod. */
export interface ContainerMemory {
  readonly name: string;
  readonly image: string;
  readonly role: ContainerRole;
  readonly state: ContainerState;
  readonly last: Terminated | null;
  readonly restarts: number;
  /** Ends in a row that were its own fault. */
  readonly crashes: number;
  /** How many of the requested restarts it has made. */
  readonly restartsMade: number;
  /** Its readiness probe passes. */
  readonly ready: boolean;
}

export interface ContainerInput {
  readonly fault: ContainerFault | null;
  readonly restartsAsked: number;
  /** Everything before it is done: it may start. */
  readonly mayStart: boolean;
  readonly podUid: string;
}

const killedExitCode = 137;
const crashExitCode = 1;
const creating = 'ContainerCreating';
const initializing = 'PodInitializing';

export function freshContainer(
  name: string,
  image: string,
  role: ContainerRole,
  waitsForOthers: boolean,
): ContainerMemory {
  return {
    name,
    image,
    role,
    state: { kind: 'waiting', reason: waitsForOthers ? initializing : creating, until: null },
    last: null,
    restarts: 0,
    crashes: 0,
    restartsMade: 0,
    ready: false,
  };
}

/** An init container that the following ones need not wait for. */
export function isDone(container: ContainerMemory): boolean {
  switch (container.role) {
    case 'init':
      return container.state.kind === 'terminated' && container.state.how.exitCode === 0;
    case 'sidecar':
      return container.state.kind === 'running' || container.last !== null || container.restarts > 0;
    case 'main':
      return false;
  }
}

export function isRunning(container: ContainerMemory): boolean {
  return container.state.kind === 'running';
}

/** The startup probe has passed; only mysqld has one. */
export function isStarted(container: ContainerMemory, startupMilliseconds: number, now: Moment): boolean {
  return container.state.kind === 'running' && now.monotonicMilliseconds >= container.state.since + startupMilliseconds;
}

/** When it will proceed by itself, or `null`. A time in the past is no reason to run again. */
export function nextChange(
  container: ContainerMemory,
  fault: ContainerFault | null,
  settings: NodesSettings,
): number | null {
  const { state } = container;
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
      if (fault === 'hangs' && container.role !== 'init') {
        return state.reason === creating ? container : waiting(container, creating, null);
      }
      return run(container, podUid, now);
    case 'ErrImagePull':
    case 'ImagePullBackOff':
      if (fault !== 'imagePull') {
        return run(container, podUid, now);
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
  state: Extract<ContainerState, { kind: 'running' }>,
  { fault, restartsAsked }: ContainerInput,
  now: Moment,
  settings: NodesSettings,
): ContainerMemory {
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
  return container;
}

/** The first restart is immediate; later ones back off. */
function advanceTerminated(
  container: ContainerMemory,
  state: Extract<ContainerState, { kind: 'terminated' }>,
  { fault, podUid }: ContainerInput,
  now: Moment,
  settings: NodesSettings,
): ContainerMemory {
  if (state.until === null || now.monotonicMilliseconds < state.until) {
    return container;
  }
  if (fault === 'dead') {
    return waiting({ ...container, last: state.how }, 'CrashLoopBackOff', null);
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

function end(
  container: ContainerMemory,
  state: Extract<ContainerState, { kind: 'running' }>,
  exitCode: number,
  now: Moment,
  settings: NodesSettings,
): ContainerMemory {
  const how: Terminated = {
    exitCode,
    reason: exitCode === 0 ? 'Completed' : 'Error',
    startedAt: state.startedAt,
    finishedAt: timestamp(now.wallMilliseconds),
    containerID: state.id,
  };
  const until = exitCode === 0 ? null : now.monotonicMilliseconds + settings.restartMilliseconds;
  return { ...container, ready: false, state: { kind: 'terminated', how, until } };
}

/** For good: its pod is on its way out. */
export function stopped(container: ContainerMemory, now: Moment): ContainerMemory {
  const { state } = container;
  if (state.kind !== 'running') {
    return { ...container, ready: false };
  }
  const how: Terminated = {
    exitCode: 0,
    reason: 'Completed',
    startedAt: state.startedAt,
    finishedAt: timestamp(now.wallMilliseconds),
    containerID: state.id,
  };
  return { ...container, ready: false, state: { kind: 'terminated', how, until: null } };
}
