import { setTimeout as pause } from 'node:timers/promises';
import { CuttingProxy } from '../../support/control-plane/cutting-proxy.ts';
import { until } from '../../support/control-plane/until.ts';
import type { ControllerProcess } from '../../support/stage/controller-process.ts';
import type { Stage } from '../../support/stage/stage.ts';
import type { Disturbance } from './acts.ts';

/** The namespace and the ServiceAccount of `config/`. */
const serviceAccount = { namespace: 'moco-rollout-system', name: 'moco-rollout' };
const electing = ['--leader-elect', '--lease-duration=6s', '--renew-deadline=4s', '--retry-period=1s'];
const common = ['--min-ready-seconds=0'];
const gate = (isOn: boolean): string => `--feature-gates=UpdateStrategyOnDelete=${isOn}`;
/** Consecutive failures to start a process. */
const mostFailures = 10;

export interface ReplicasOptions {
  readonly stage: Stage;
  /** `false`: all of them act at once, all the time. */
  readonly elects: boolean;
  readonly hasGate: boolean;
  readonly count: number;
  /** A process has ended by itself. */
  readonly onEnd: (log: string) => void;
}

/** One process and its way to the API server. */
interface Replica {
  readonly process: ControllerProcess;
  readonly proxy: CuttingProxy;
}

/** Controller processes, each behind a proxy of its own; whichever ends is started again, as a Deployment does it. */
export class Replicas {
  readonly #options: ReplicasOptions;
  readonly #running = new Map<number, Replica>();
  readonly #slots: Promise<void>[] = [];
  readonly #stopping = new AbortController();
  /** The stage names what it starts by their number: one at a time. */
  #starting: Promise<unknown> = Promise.resolve();
  #started = 0;
  #kills = 0;

  constructor(options: ReplicasOptions) {
    this.#options = options;
  }

  /** How often one has been killed. */
  get kills(): number {
    return this.#kills;
  }

  get started(): number {
    return this.#started;
  }

  async start(): Promise<void> {
    for (let slot = 0; slot < this.#options.count; slot++) {
      const first = Promise.withResolvers<void>();
      this.#slots.push(this.#keep(slot, first.resolve));
      await Promise.race([first.promise, this.#slots[slot]]);
    }
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    for (const { process } of this.#running.values()) process.signal('SIGKILL');
    await Promise.all(this.#slots);
  }

  /** All at once. */
  killAll(): void {
    for (const { process } of this.#running.values()) this.#kill(process);
  }

  /** Does it to one of those that run; `slot` chooses. Resolves when it is over. */
  async disturb(disturbance: Disturbance, slot: number): Promise<void> {
    const replica = this.#running.get(slot % this.#options.count);
    if (replica === undefined) return;
    const { connections } = replica.proxy;
    switch (disturbance.kind) {
      case 'kill':
        this.#kill(replica.process);
        return;
      case 'freeze':
        replica.process.signal('SIGSTOP');
        await pause(disturbance.forMilliseconds);
        replica.process.signal('SIGCONT');
        return;
      case 'cut':
        connections.cut();
        return;
      case 'sever':
        connections.sever();
        await pause(disturbance.forMilliseconds);
        connections.mend();
    }
  }

  /** Runs one process after another until the end. Rejects if none can be started at all. */
  async #keep(slot: number, onFirst: () => void): Promise<void> {
    const { signal } = this.#stopping;
    let failures = 0;
    while (!signal.aborted) {
      const start = this.#starting.then(() => (signal.aborted ? null : this.#begin()));
      this.#starting = start.catch(() => undefined);
      const replica = await start.catch((error: unknown) => {
        failures += 1;
        if (failures === mostFailures) throw error;
        return null;
      });
      if (replica === null) continue;
      failures = 0;
      this.#running.set(slot, replica);
      onFirst();
      if (signal.aborted) replica.process.signal('SIGKILL');
      await until('it ends', () => !replica.process.running, { milliseconds: Number.POSITIVE_INFINITY });
      this.#running.delete(slot);
      if ((await replica.process.stop()) !== null) this.#options.onEnd(replica.process.log);
      await replica.proxy.close();
    }
  }

  async #begin(): Promise<Replica> {
    const { stage, elects, hasGate } = this.#options;
    const direct = await stage.controlPlane.kubeconfigFor(serviceAccount);
    const proxy = await CuttingProxy.start(stage.controlPlane.server);
    try {
      const kubeconfig = await proxy.kubeconfig(direct);
      this.#started += 1;
      const flags = [...common, gate(hasGate), ...(elects ? electing : []), `--kubeconfig=${kubeconfig}`];
      return { process: await stage.startController(flags), proxy };
    } catch (error) {
      await proxy.close();
      throw error;
    }
  }

  #kill(process: ControllerProcess): void {
    this.#kills += 1;
    process.signal('SIGKILL');
  }
}
