import { mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Guard } from '../../support/control-plane/guard.ts';
import type { ContainerMemory } from '../../support/nodes/container.ts';
import type { Pod } from '../../support/nodes/objects.ts';
import type { PodMemory } from '../../support/nodes/pod-memory.ts';
import type { ContainerReport } from '../../support/nodes/runtime.ts';
import type { Image } from '../image/image.ts';
import { ContainerProcess } from './container-process.ts';
import { environmentOf } from './environment.ts';
import type { Hosts } from './hosts.ts';
import { myCnf } from './my-cnf.ts';
import type { ObjectsOfPods } from './objects-of-pods.ts';
import { containerOf, type RealContainer, specOf } from './pod-spec.ts';
import { RunningContainer, starting } from './running-container.ts';
import { makeVolumes, type VolumePaths } from './volumes.ts';

const retryMilliseconds = 500;
const defaultGraceSeconds = 30;
const startFailedExitCode = 128;
const failedToStart: ContainerReport = { exitCode: startFailedExitCode, started: false, ready: false };

export interface PodProcessesOptions {
  readonly pod: Pod;
  readonly address: string;
  readonly imageOf: (name: string) => Image | null;
  readonly objects: ObjectsOfPods;
  readonly hosts: Hosts;
  readonly guard: Guard;
  /** Of this pod alone; goes with it. */
  readonly directory: string;
  readonly claims: string;
  /** Where its logs stay. */
  readonly logFileOf: (container: string) => string;
  /** An empty directory. */
  readonly mountPoint: string;
  readonly onChange: () => void;
  /** Told why something can't be done yet. */
  readonly onProblem: (problem: string) => void;
}

interface Run {
  readonly container: string;
  readonly state: RunningContainer | 'starting' | 'failed';
}

/** The volumes and processes of one pod. */
export class PodProcesses {
  readonly #options: PodProcessesOptions;
  /** By container ID. */
  readonly #runs = new Map<string, Run>();
  readonly #removing = new AbortController();
  #pod: Pod;
  #volumes: VolumePaths | null = null;

  constructor(options: PodProcessesOptions) {
    this.#options = options;
    this.#pod = options.pod;
    void this.#prepare();
  }

  get prepared(): boolean {
    return this.#volumes !== null;
  }

  report(containerID: string): ContainerReport {
    const state = this.#runs.get(containerID)?.state;
    if (state === 'failed') return failedToStart;
    return state instanceof RunningContainer ? state.report : starting;
  }

  /** The processes that run, by container. */
  pids(): readonly { readonly container: string; readonly pid: number }[] {
    return [...this.#running()].flatMap(({ name, run }) => {
      const { pid } = run.process;
      return pid === undefined ? [] : [{ container: name, pid }];
    });
  }

  kill(container: string): boolean {
    const found = this.#running().find(({ name }) => name === container);
    found?.run.process.kill();
    return found !== undefined;
  }

  sync(pod: Pod, memory: PodMemory): void {
    this.#pod = pod;
    for (const container of [...memory.initContainers, ...memory.containers]) this.#syncContainer(container);
  }

  /** Ends what still runs at once, and removes the pod's directory. */
  async remove(): Promise<void> {
    this.#removing.abort();
    await Promise.all(
      this.#running().map(({ run }) => {
        run.process.kill();
        return run.process.ended;
      }),
    );
    await this.#options.hosts.remove(this.#pod.metadata.uid);
    await rm(this.#options.directory, { recursive: true, force: true });
  }

  /** Retried for as long as the pod is there: MOCO makes some of its objects only after the pod. */
  async #prepare(): Promise<void> {
    const { directory, claims, objects, hosts, address, onChange, onProblem } = this.#options;
    await mkdir(directory, { recursive: true });
    const file = join(directory, 'hosts');
    await writeFile(file, '');
    await hosts.add({ pod: this.#pod, address, file });
    let reported = '';
    while (!this.#removing.signal.aborted) {
      try {
        const fileOfConfigMap = (name: string, content: Buffer): Buffer =>
          name === 'my.cnf' ? Buffer.from(myCnf(content.toString(), address, this.#unknownVariables())) : content;
        const volumes = { pod: this.#pod, directory: join(directory, 'volumes'), claims, objects, fileOfConfigMap };
        this.#volumes = await makeVolumes(volumes);
        onChange();
        return;
      } catch (error) {
        const problem = `volumes: ${String(error)}`;
        if (problem !== reported) onProblem(problem);
        reported = problem;
        await delay(retryMilliseconds, undefined, { signal: this.#removing.signal }).catch(() => undefined);
      }
    }
  }

  #unknownVariables(): readonly string[] {
    const images = specOf(this.#pod).containers.map(({ image = '' }) => this.#options.imageOf(image));
    return images.flatMap((image) => image?.unknownVariables ?? []);
  }

  #syncContainer({ name, image, state }: ContainerMemory): void {
    const container = containerOf(this.#pod, name);
    const found = this.#options.imageOf(image);
    if (state.kind !== 'running' || container === null || found === null) return;
    const run = this.#runs.get(state.id)?.state;
    if (run === undefined) {
      this.#runs.set(state.id, { container: name, state: 'starting' });
      void this.#start(state.id, container, found);
      return;
    }
    if (!(run instanceof RunningContainer)) return;
    if (state.ending === 'kill') run.process.kill();
    else if (state.ending === 'stop') void run.stop(this.#graceMilliseconds());
    else run.checkReadiness();
  }

  async #start(id: string, container: RealContainer, image: Image): Promise<void> {
    const { objects, address, guard, logFileOf, mountPoint, directory, onChange, onProblem } = this.#options;
    try {
      const variables = await environmentOf(container, this.#pod, address, objects);
      this.#removing.signal.throwIfAborted();
      const process = await ContainerProcess.start({
        root: image.root,
        mountPoint,
        hostname: this.#pod.metadata.name,
        binds: [
          ...image.binds,
          { source: join(directory, 'hosts'), target: '/etc/hosts' },
          ...this.#mountsOf(container),
        ],
        command: commandOf(container, image, address),
        environment: variables,
        path: image.path,
        logFile: logFileOf(container.name),
        guard,
      });
      const options = { container, address, graceMilliseconds: this.#graceMilliseconds(), onChange };
      this.#runs.set(id, { container: container.name, state: new RunningContainer(process, options) });
      if (this.#removing.signal.aborted) process.kill();
    } catch (error) {
      this.#runs.set(id, { container: container.name, state: 'failed' });
      if (!this.#removing.signal.aborted) onProblem(`container ${container.name}: ${String(error)}`);
    }
    onChange();
  }

  #mountsOf({ name, volumeMounts = [] }: RealContainer): readonly { source: string; target: string }[] {
    return volumeMounts.map((mount) => {
      const volume = this.#volumes?.get(mount.name);
      if (volume === undefined) throw new Error(`Expected a volume ${mount.name} for container ${name}, found none`);
      return { source: join(volume, mount.subPath ?? ''), target: mount.mountPath };
    });
  }

  #graceMilliseconds(): number {
    const { deletionGracePeriodSeconds } = this.#pod.metadata;
    const { terminationGracePeriodSeconds = defaultGraceSeconds } = specOf(this.#pod);
    return (deletionGracePeriodSeconds ?? terminationGracePeriodSeconds) * 1000;
  }

  #running(): readonly { readonly name: string; readonly run: RunningContainer }[] {
    return [...this.#runs.values()].flatMap(({ container: name, state: run }) =>
      run instanceof RunningContainer && run.report.exitCode === null ? [{ name, run }] : [],
    );
  }
}

function commandOf(container: RealContainer, image: Image, address: string): readonly string[] {
  const { command, args = [] } = container;
  if (command !== undefined) return [...command, ...args];
  return [...image.entrypoint, ...args, ...image.listenFlags(address)];
}
