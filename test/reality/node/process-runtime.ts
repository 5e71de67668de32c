import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { Guard } from '../../support/control-plane/guard.ts';
import type { Pod } from '../../support/nodes/objects.ts';
import type { PodMemory } from '../../support/nodes/pod-memory.ts';
import type { ContainerRuntime, PodRuntime } from '../../support/nodes/runtime.ts';
import type { ObjectClient } from '../../support/object-client.ts';
import type { Image } from '../image/image.ts';
import { Hosts } from './hosts.ts';
import { ObjectsOfPods } from './objects-of-pods.ts';
import { PodProcesses } from './pod-processes.ts';
import { containerOf } from './pod-spec.ts';
import { claimDirectory, emptyClaim } from './volumes.ts';

const uidCharacters = 8;

export interface ProcessRuntimeOptions {
  readonly client: ObjectClient;
  /** `null` for images whose containers time plays. */
  readonly imageOf: (name: string) => Image | null;
  /** Of this runtime alone. */
  readonly directory: string;
  readonly onProblem: (problem: string) => void;
}

/** A container that runs. */
export interface ContainerPid {
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
  readonly pid: number;
}

/** Runs the containers of pods as processes of this machine, each in namespaces of its own. Needs Linux and root. */
export class ProcessRuntime implements ContainerRuntime {
  readonly #options: ProcessRuntimeOptions;
  readonly #guard = new Guard();
  readonly #hosts = new Hosts();
  readonly #objects: ObjectsOfPods;
  readonly #pods = new Map<string, { readonly pod: Pod; readonly processes: PodProcesses }>();
  readonly #ending = new Set<Promise<void>>();
  #onChange: (namespace: string, name: string) => void = () => undefined;

  private constructor(options: ProcessRuntimeOptions) {
    this.#options = options;
    this.#objects = new ObjectsOfPods(options.client);
  }

  static async open(options: ProcessRuntimeOptions): Promise<ProcessRuntime> {
    for (const name of ['mount', 'logs', 'claims', 'pods']) await mkdir(join(options.directory, name));
    return new ProcessRuntime(options);
  }

  podRuntime(pod: Pod): PodRuntime {
    const processes = this.#pods.get(pod.metadata.uid)?.processes;
    return {
      prepared: processes?.prepared ?? false,
      processesOf: (name) => {
        const image = containerOf(pod, name)?.image ?? '';
        if (this.#options.imageOf(image) === null || processes === undefined) return null;
        return (id) => processes.report(id);
      },
    };
  }

  sync(pod: Pod, address: string, memory: PodMemory): void {
    if (pod.spec.nodeName === undefined) return;
    const { uid } = pod.metadata;
    const known = this.#pods.get(uid) ?? { pod, processes: this.#processesFor(pod, address) };
    this.#pods.set(uid, known);
    known.processes.sync(pod, memory);
  }

  remove(uid: string): void {
    const known = this.#pods.get(uid);
    if (known === undefined) return;
    this.#pods.delete(uid);
    const ending = known.processes.remove().finally(() => this.#ending.delete(ending));
    this.#ending.add(ending);
  }

  onChange(callback: (namespace: string, name: string) => void): void {
    this.#onChange = callback;
  }

  async stop(): Promise<void> {
    for (const uid of this.#pods.keys()) this.remove(uid);
    await Promise.all(this.#ending);
    await this.#guard.close();
  }

  /** SIGKILL. Throws if no such container runs. */
  kill(namespace: string, pod: string, container: string): void {
    const killed = [...this.#of(namespace, pod)].some((processes) => processes.kill(container));
    if (!killed) throw new Error(`Expected container ${container} of pod ${namespace}/${pod} to run, it doesn't`);
  }

  containers(): readonly ContainerPid[] {
    return [...this.#pods.values()].flatMap(({ pod, processes }) => {
      const { namespace, name } = pod.metadata;
      return processes.pids().map(({ container, pid }) => ({ namespace, pod: name, container, pid }));
    });
  }

  /** The log of a container of the newest pod of that name. */
  logFile(namespace: string, name: string, container: string): string {
    const pods = [...this.#pods.values()].map(({ pod }) => pod);
    const pod = pods.findLast(({ metadata }) => metadata.namespace === namespace && metadata.name === name);
    if (pod === undefined) throw new Error(`Expected a pod ${namespace}/${name}, found none`);
    return this.#logFile(pod, container);
  }

  claimDirectory(namespace: string, claim: string): string {
    return claimDirectory(join(this.#options.directory, 'claims'), namespace, claim);
  }

  emptyClaim(namespace: string, claim: string): Promise<void> {
    return emptyClaim(join(this.#options.directory, 'claims'), namespace, claim);
  }

  *#of(namespace: string, name: string): Iterable<PodProcesses> {
    for (const { pod, processes } of this.#pods.values()) {
      if (pod.metadata.namespace === namespace && pod.metadata.name === name) yield processes;
    }
  }

  #logFile(pod: Pod, container: string): string {
    return join(this.#options.directory, 'logs', `${this.#nameOf(pod)}_${container}.log`);
  }

  #nameOf({ metadata: { namespace, name, uid } }: Pod): string {
    return `${namespace}_${name}_${uid.slice(0, uidCharacters)}`;
  }

  #processesFor(pod: Pod, address: string): PodProcesses {
    const { directory, imageOf, onProblem } = this.#options;
    const { namespace, name } = pod.metadata;
    return new PodProcesses({
      pod,
      address,
      imageOf,
      objects: this.#objects,
      hosts: this.#hosts,
      guard: this.#guard,
      directory: join(directory, 'pods', this.#nameOf(pod)),
      claims: join(directory, 'claims'),
      logFileOf: (container) => this.#logFile(pod, container),
      mountPoint: join(directory, 'mount'),
      onChange: () => this.#onChange(namespace, name),
      onProblem: (problem) => onProblem(`${namespace}/${name}: ${problem}`),
    });
  }
}
