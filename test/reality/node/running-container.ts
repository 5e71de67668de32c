import type { ContainerReport } from '../../support/nodes/runtime.ts';
import type { ContainerProcess } from './container-process.ts';
import type { RealContainer } from './pod-spec.ts';
import { Prober } from './prober.ts';

/** What a container reports before it has a process. */
export const starting: ContainerReport = { exitCode: null, started: false, ready: false };

export interface RunningContainerOptions {
  readonly container: RealContainer;
  readonly address: string;
  /** What a failed liveness or startup probe leaves it to end, in milliseconds. */
  readonly graceMilliseconds: number;
  readonly onChange: () => void;
}

/** One run of a container: its process, and the probes while it runs. */
export class RunningContainer {
  readonly #options: RunningContainerOptions;
  readonly #process: ContainerProcess;
  readonly #probing = new AbortController();
  /** Startup and liveness probes; a pod that is terminating has none. */
  readonly #probingHealth = new AbortController();
  #readiness: Prober | null = null;
  #report: ContainerReport;

  constructor(process: ContainerProcess, options: RunningContainerOptions) {
    this.#process = process;
    this.#options = options;
    const { startupProbe, readinessProbe } = options.container;
    const started = startupProbe === undefined;
    this.#report = { exitCode: null, started, ready: started && readinessProbe === undefined };
    void this.#reportEnd();
    this.#startProbes();
  }

  get report(): ContainerReport {
    return this.#report;
  }

  get process(): ContainerProcess {
    return this.#process;
  }

  /** A kubelet that looks at a pod asks again at once whether what is not ready has become so. */
  checkReadiness(): void {
    if (this.#report.started && !this.#report.ready) this.#readiness?.probeNow();
  }

  stop(graceMilliseconds: number): Promise<void> {
    this.#probingHealth.abort();
    return this.#process.stop(graceMilliseconds, preStopMilliseconds(this.#options.container));
  }

  async #reportEnd(): Promise<void> {
    const exitCode = await this.#process.ended;
    this.#probing.abort();
    this.#change({ exitCode, started: false, ready: false });
  }

  #startProbes(): void {
    const { startupProbe } = this.#options.container;
    if (startupProbe === undefined) {
      this.#startOtherProbes();
      return;
    }
    const startup = new AbortController();
    void new Prober({
      ...this.#place(),
      probe: startupProbe,
      signal: AbortSignal.any([this.#probing.signal, this.#probingHealth.signal, startup.signal]),
      onVerdict: (passes) => {
        startup.abort();
        if (!passes) {
          void this.stop(this.#options.graceMilliseconds);
          return;
        }
        const { readinessProbe } = this.#options.container;
        this.#change({ exitCode: null, started: true, ready: readinessProbe === undefined });
        this.#startOtherProbes();
      },
    }).run();
  }

  #startOtherProbes(): void {
    const { livenessProbe, readinessProbe } = this.#options.container;
    if (livenessProbe !== undefined) {
      void new Prober({
        ...this.#place(),
        probe: livenessProbe,
        signal: AbortSignal.any([this.#probing.signal, this.#probingHealth.signal]),
        onVerdict: (passes) => {
          if (!passes) void this.stop(this.#options.graceMilliseconds);
        },
      }).run();
    }
    if (readinessProbe !== undefined) {
      this.#readiness = new Prober({
        ...this.#place(),
        probe: readinessProbe,
        signal: this.#probing.signal,
        onVerdict: (ready) => this.#change({ ...this.#report, ready }),
      });
      void this.#readiness.run();
    }
  }

  #place(): { readonly address: string; readonly portOf: (port: number | string) => number } {
    const { address, container } = this.#options;
    return { address, portOf: (port) => portOf(container, port) };
  }

  #change(report: ContainerReport): void {
    this.#report = report;
    this.#options.onChange();
  }
}

function portOf({ name, ports = [] }: RealContainer, port: number | string): number {
  if (typeof port === 'number') return port;
  const found = ports.find((candidate) => candidate.name === port);
  if (found === undefined) throw new Error(`Expected container ${name} to have a port ${port}, found none`);
  return found.containerPort;
}

/** Of a hook that is `sleep n`, as MOCO gives one to mysqld. */
function preStopMilliseconds({ name, lifecycle }: RealContainer): number {
  const command = lifecycle?.preStop?.exec?.command;
  if (command === undefined) return 0;
  const [program, seconds] = command;
  if (program !== 'sleep')
    throw new Error(`Expected the preStop hook of ${name} to be sleep, got ${command.join(' ')}`);
  return Number(seconds) * 1000;
}
