import { type Moment } from '../moment.ts';
import type { ContainerMemory } from './container.ts';
import type { ContainerFault, PodFaults } from './faults.ts';
import type { Pod, PodCondition } from './objects.ts';
import type { NodesSettings } from './settings.ts';
import type { PodWrite } from './write.ts';

/** What the scheduler, the kubelet and the node controller know of one pod beyond its object. */
export interface PodMemory {
  readonly uid: string;
  readonly seenAt: number;
  readonly startTime: string | null;
  /** When the containers may start, once the init containers are through. */
  readonly startAt: number | null;
  readonly terminatingSince: number | null;
  readonly stopped: boolean;
  /** When its last DELETE was sent. */
  readonly lastWordAt: number | null;
  /** Since when its node has been lost. */
  readonly lostSince: number | null;
  /** When the first probe is made by a kubelet that has come back. */
  readonly probedFrom: number;
  readonly initContainers: readonly ContainerMemory[];
  readonly containers: readonly ContainerMemory[];
  /** As last written. */
  readonly conditions: readonly PodCondition[];
  /** The last status written, to write none twice. */
  readonly written: string;
}

export interface KubeletInput {
  readonly pod: Pod;
  /** `null` for a pod seen for the first time. */
  readonly memory: PodMemory | null;
  readonly faults: PodFaults;
  readonly settings: NodesSettings;
  readonly now: Moment;
  /** What the readiness probe of container mysqld would find, MySQL itself being asked. */
  readonly mysqldServes: boolean;
  /** The pod's own loopback address. */
  readonly address: string;
  /** Names of the nodes. */
  readonly nodes: readonly string[];
  /** Those of them that take no pod, or not this one. Absent: all do. */
  readonly closed?: ReadonlySet<string>;
}

/** With the memory of the step so far. */
export type Moving = KubeletInput & { readonly memory: PodMemory };

export interface KubeletStep {
  /** Counts only once all writes are through; else it stays as it was and the step is asked for again. */
  readonly memory: PodMemory;
  readonly writes: readonly PodWrite[];
  /** When to run again without a change; `null` if only a change matters. */
  readonly requeueAfterMilliseconds: number | null;
}

/** Whom a write about this pod is meant for. */
export function target({ metadata }: Pod): { namespace: string; name: string; uid: string } {
  return { namespace: metadata.namespace, name: metadata.name, uid: metadata.uid };
}

export function faultOf(container: ContainerMemory, { faults, settings }: KubeletInput): ContainerFault | null {
  return faults.containers[container.name] ?? settings.imageFault(container.image, container.role === 'init');
}
