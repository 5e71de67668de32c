import { setTimeout as pause } from 'node:timers/promises';
import type { KeyPair } from '../../support/control-plane/certificates.ts';
import { until } from '../../support/control-plane/until.ts';
import type { ControllerProcess } from '../../support/stage/controller-process.ts';
import type { Stage } from '../../support/stage/stage.ts';
import type { Disturbance } from './disturbance.ts';
import type { Fates, Trouble } from './fates.ts';
import { ChaosProxy } from './proxy.ts';

/** The namespace and the ServiceAccount of `config/`. */
const serviceAccount = { namespace: 'moco-rollout-system', name: 'moco-rollout' };
const electing = ['--leader-elect', '--lease-duration=6s', '--renew-deadline=4s', '--retry-period=1s'];
const common = ['--min-ready-seconds=0'];
const gate = (isOn: boolean): string => `--feature-gates=UpdateStrategyOnDelete=${isOn}`;
/** Consecutive failures to start a process. */
const mostFailures = 10;
/** Of a gate that flips: how long some processes have it on and others off. */
const overlapMilliseconds = 2000;

export interface ReplicasOptions {
  readonly stage: Stage;
  readonly keyPair: KeyPair;
  readonly fates: Fates;
  /** `false`: all of them act at once, all the time. */
  readonly elects: boolean;
  readonly count: number;
  /** A number that no processes of the run have had. */
  readonly generation: number;
  readonly onConfirming: (actor: string, namespace: string) => Promise<void>;
  readonly onStart: (actor: string, hasGate: boolean) => void;
  /** A process has ended by itself. */
  readonly onEnd: (actor: string, log: string) => void;
}

/** One process and its way to the API server. */
interface Replica {
  readonly actor: string;
  readonly process: ControllerProcess;
  readonly proxy: ChaosProxy;
  readonly trouble: Trouble;
}

/** Controller processes, each behind a proxy of its own; whichever ends is started again, as a Deployment does it. */
export class Replicas {
  readonly #options: ReplicasOptions;
  readonly #running = new Map<number, Replica>();
  readonly #slots: Promise<void>[] = [];
  readonly #stopping = new AbortController();
  /** The stage names what it starts by their number: one at a time. */
  #starting: Promise<unknown> = Promise.resolve();
  #hasGate = true;
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

  /** As a Deployment brings another flag: one process after the other ends, and the next one has it. */
  async flipGate(): Promise<void> {
    this.#hasGate = !this.#hasGate;
    for (const slot of Array.from({ length: this.#options.count }, (_, index) => index)) {
      this.#running.get(slot)?.process.signal('SIGTERM');
      await pause(overlapMilliseconds);
    }
  }

  /** All at once. */
  killAll(): void {
    for (const { process } of this.#running.values()) this.#kill(process);
  }

  /** Does it to one of those that run; `slot` chooses. Resolves when it is over. */
  async disturb(disturbance: Disturbance, slot: number): Promise<void> {
    const replica = this.#running.get(slot % this.#options.count);
    if (replica === undefined) return;
    const { proxy, trouble } = replica;
    switch (disturbance.kind) {
      case 'kill':
        this.#kill(replica.process);
        return;
      case 'freeze':
        await freeze(replica.process, disturbance.forMilliseconds);
        return;
      case 'cut':
        proxy.connections.cut();
        return;
      case 'sever':
        proxy.connections.sever();
        await pause(disturbance.forMilliseconds);
        proxy.connections.mend();
        return;
      case 'watchLag':
        trouble.lagMilliseconds.set(disturbance.plural, disturbance.byMilliseconds);
        await pause(disturbance.forMilliseconds);
        trouble.lagMilliseconds.delete(disturbance.plural);
        return;
      case 'errors':
        trouble.errorShare = disturbance.share;
        await pause(disturbance.forMilliseconds);
        trouble.errorShare = 0;
        return;
      case 'slow':
        trouble.slowMilliseconds = disturbance.byMilliseconds;
        await pause(disturbance.forMilliseconds);
        trouble.slowMilliseconds = 0;
    }
  }

  /** Runs one process after another until the end. Rejects if none can be started at all. */
  async #keep(slot: number, onFirst: () => void): Promise<void> {
    const { signal } = this.#stopping;
    let failures = 0;
    for (let incarnation = 0; !signal.aborted; incarnation++) {
      const actor = `replica-${this.#options.generation}-${slot}-${incarnation}`;
      const start = this.#starting.then(() => (signal.aborted ? null : this.#begin(actor)));
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
      await until(() => (replica.process.running ? undefined : true), Number.POSITIVE_INFINITY, String);
      this.#running.delete(slot);
      if ((await replica.process.stop()) !== null) this.#options.onEnd(actor, replica.process.log);
      await replica.proxy.close();
    }
  }

  async #begin(actor: string): Promise<Replica> {
    const { stage, keyPair, fates, elects, onConfirming, onStart } = this.#options;
    const hasGate = this.#hasGate;
    onStart(actor, hasGate);
    const trouble: Trouble = { errorShare: 0, slowMilliseconds: 0, lagMilliseconds: new Map() };
    let process: ControllerProcess | null = null;
    const proxy = await ChaosProxy.start({
      controlPlane: stage.controlPlane,
      keyPair,
      actor,
      fate: fates.of(actor, trouble),
      onConfirming: (namespace) => onConfirming(actor, namespace),
      victim: {
        kill: () => this.#kill(process ?? this.#beingStarted()),
        freeze: (milliseconds) => void freeze(process, milliseconds),
      },
    });
    try {
      const kubeconfig = await proxy.kubeconfig(await stage.controlPlane.kubeconfigFor(serviceAccount));
      this.#started += 1;
      const flags = [...common, gate(hasGate), ...(elects ? electing : []), `--kubeconfig=${kubeconfig}`];
      process = await stage.startController(flags);
      return { actor, process, proxy, trouble };
    } catch (error) {
      await proxy.close();
      throw error;
    }
  }

  /** Known to the stage before it is returned; its requests may reach a point before that. */
  #beingStarted(): ControllerProcess | undefined {
    return this.#options.stage.controllers.at(-1);
  }

  #kill(process: ControllerProcess | undefined): void {
    if (process === undefined) return;
    this.#kills += 1;
    process.signal('SIGKILL');
  }
}

/** A process that is still starting is left alone, since its starter waits for it. */
async function freeze(process: ControllerProcess | null, milliseconds: number): Promise<void> {
  process?.signal('SIGSTOP');
  await pause(milliseconds);
  process?.signal('SIGCONT');
}
