import { type Moment, timestamp } from '../moment.ts';
import { type Resources, type Terminated } from './objects.ts';

/** `until` is when it proceeds by itself, on the monotonic clock; `null`: not by time. */
export type ContainerState =
  | { readonly kind: 'waiting'; readonly reason: string; readonly until: number | null }
  | { readonly kind: 'running'; readonly since: number; readonly startedAt: string; readonly id: string }
  | {
      readonly kind: 'terminated';
      readonly how: Terminated;
      readonly until: number | null;
      /** The kubelet has ended it, pulls and starts it again in one go: meanwhile it says that it runs. */
      readonly unseen?: true;
    };

export type RunningState = Extract<ContainerState, { kind: 'running' }>;

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
  readonly ready: boolean;
  /** Since when its readiness probe has failed although it is ready. */
  readonly failingSince: number | null;
  /** Those that it runs with, or is to start with; `null` before the first look. */
  readonly resources: Resources | null;
  /** When its last run ended, on the monotonic clock. */
  readonly endedAt: number | null;
}

/** Of a container that is still to start for the first time. */
export const creating = 'ContainerCreating';
export const initializing = 'PodInitializing';
/** Of one that the kubelet can't find any more. */
export const unknownStatus = 'ContainerStatusUnknown';

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
    failingSince: null,
    resources: null,
    endedAt: null,
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

/** One that is still to start takes over the image of the pod's spec, and with it a fresh back-off. */
export function withImage(container: ContainerMemory, image: string): ContainerMemory {
  const isOver = container.role === 'init' && isDone(container);
  const isShown = isRunning(container) || isUnseen(container);
  return container.image === image || isShown || isOver ? container : { ...container, image, crashes: 0 };
}

export function isRunning(container: ContainerMemory): boolean {
  return container.state.kind === 'running';
}

/** It has ended, and its kubelet has not said so. */
export function isUnseen({ state }: ContainerMemory): boolean {
  return state.kind === 'terminated' && state.unseen === true;
}

/** The startup probe has passed; only mysqld has one. */
export function isStarted({ state }: ContainerMemory, startupMilliseconds: number, now: Moment): boolean {
  return state.kind === 'running' && now.monotonicMilliseconds >= state.since + startupMilliseconds;
}

/** For good: its pod is on its way out. */
export function stopped(container: ContainerMemory, now: Moment): ContainerMemory {
  const { state } = container;
  if (state.kind === 'terminated') {
    const { unseen: _, ...shown } = state;
    return { ...container, ready: false, state: shown };
  }
  if (state.kind !== 'running') {
    return { ...container, ready: false };
  }
  return { ...container, ready: false, state: { kind: 'terminated', how: terminated(state, 0, now), until: null } };
}

export function terminated(state: RunningState, exitCode: number, now: Moment): Terminated {
  return {
    exitCode,
    reason: exitCode === 0 ? 'Completed' : 'Error',
    startedAt: state.startedAt,
    finishedAt: timestamp(now.wallMilliseconds),
    containerID: state.id,
  };
}
