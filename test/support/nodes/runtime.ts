import type { Pod } from './objects.ts';
import type { PodMemory } from './pod-memory.ts';

/** What a container's process and its probes have shown until now. */
export interface ContainerReport {
  /** `null` while the process runs; 128 and the signal's number if a signal has ended it. */
  readonly exitCode: number | null;
  /** The startup probe has passed, or there is none. */
  readonly started: boolean;
  /** The readiness probe passes, or there is none. */
  readonly ready: boolean;
}

/** The report on the process that was started under a container ID. */
export type Processes = (containerID: string) => ContainerReport;

/** What a container runtime has of one pod. */
export interface PodRuntime {
  /** Its volumes are there: containers may start. */
  readonly prepared: boolean;
  /** `null` for a container that has no process: time and faults play it. */
  processesOf(containerName: string): Processes | null;
}

/**
 * Runs the processes that a kubelet decides on, as a container runtime does. Without one, time and faults play every
 * container.
 */
export interface ContainerRuntime {
  podRuntime(pod: Pod): PodRuntime;
  /** Starts, stops and kills processes until they are what the memory says. Called after every step; returns at once. */
  sync(pod: Pod, address: string, memory: PodMemory): void;
  /** The pod's object is gone: ends whatever it still has. */
  remove(uid: string): void;
  /** Calls back whenever a report may have changed. */
  onChange(callback: (namespace: string, name: string) => void): void;
  /** Ends every process. */
  stop(): Promise<void>;
}
