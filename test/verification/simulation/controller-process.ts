import { Registry } from 'prom-client';
import { builtInStrategy } from '../../../src/api/settings.ts';
import type { Log, World } from '../../../src/base/world.ts';
import { Controller } from '../../../src/controller/controller.ts';
import type { StrategySettings } from '../../../src/controller/facts/mode.ts';
import { noFleetLimits } from '../../../src/controller/fleet/fleet-limits.ts';
import type { CheckReader } from '../../../src/controller/questions/checks.ts';
import { defaultPolicy } from '../../../src/core/policy.ts';
import { LeaseElector } from '../../../src/kube/lease-elector.ts';
import { onServerClock } from '../../../src/kube/server-clock.ts';
import type { DelayReader, MemberReader } from '../../../src/moco/agent.ts';
import { usualLease } from '../../../src/moco/lease-place.ts';
import { usualSigns } from '../../../src/moco/node-maintenance.ts';
import { FleetMetrics } from '../../../src/telemetry/metrics.ts';
import { RolloutMetrics } from '../../../src/telemetry/rollout-metrics.ts';
import { CacheMetrics, CheckMetrics, WorkQueueMetrics } from '../../../src/telemetry/runtime-metrics.ts';
import { ObjectClient } from '../../support/object-client.ts';
import type { Chance } from './chance.ts';
import type { VirtualClock } from './clock.ts';
import type { Client, Network } from './network.ts';

const silent: Log = { debug: ignore, info: ignore, warn: ignore, error: ignore };

function ignore(): void {}

export interface ProcessOptions {
  readonly clock: VirtualClock;
  readonly chance: Chance;
  readonly network: Network;
  readonly delays: DelayReader;
  readonly members: MemberReader;
  readonly readCheck: CheckReader;
  /** Without it nothing is kept. */
  readonly log?: Log | undefined;
  /** Milliseconds since 1970 at the beginning of the simulation. */
  readonly epochMilliseconds: number;
  readonly number: number;
  /** Feature gate `UpdateStrategyOnDelete` in the beginning, and who lowers partitions. */
  readonly strategies: StrategySettings;
  /** Without it the process leads from the start, regardless of others. */
  readonly electsLeader: boolean;
  readonly onStart: (actor: string, strategies: StrategySettings) => void;
  readonly onEnd: (why: string, actor: string) => void;
  /** `isLeading` may have changed. */
  readonly onLeading: () => void;
  readonly onReported: (actor: string, ...reported: Parameters<Client['onReported']>) => void;
  readonly onAnswered: (actor: string, ...answered: Parameters<Client['onAnswered']>) => void;
}

const qps = 100;
const burst = 200;
const drainMilliseconds = 5_000;
const restartMilliseconds = 2_000;

/** Before it is sent, while it is on its way, or right after it has been carried out. */
export type WriteMoment = 'before' | 'onItsWay' | 'after';

/** The n-th write from now on. */
export interface WritePoint {
  readonly writes: number;
  readonly to: 'pod' | 'any';
  readonly when: WriteMoment;
}

/** A process of the controller: started, stopped, killed, frozen, its clock moved. Every start is another life. */
export class ControllerProcess {
  readonly #options: ProcessOptions;
  readonly #lived: Life[] = [];
  #life: Life | null = null;
  #lives = 0;
  #points: (WritePoint & { writes: number; readonly reached: () => void })[] = [];
  #wallOffsetMilliseconds = 0;
  #strategies: StrategySettings;

  constructor(options: ProcessOptions) {
    this.#options = options;
    this.#strategies = options.strategies;
  }

  get isRunning(): boolean {
    return this.#life !== null;
  }

  /** Whoever asks it gets an answer. */
  get isServing(): boolean {
    return this.#life !== null && !this.#life.isFrozen;
  }

  /** It acts, or would if it saw a reason. */
  get isLeading(): boolean {
    return this.isServing && this.#life?.isLeading === true;
  }

  /** By this name the API server knows its present life. */
  get actor(): string | null {
    return this.#life && actorOf(this.#options.number, this.#lives);
  }

  start(): void {
    if (this.#life !== null) return;
    this.#lives += 1;
    const { number } = this.#options;
    const actor = actorOf(number, this.#lives);
    this.#options.onStart(actor, this.#strategies);
    const life = new Life({ ...this.#options, strategies: this.#strategies }, actor, {
      wall: () => this.#options.epochMilliseconds + this.#options.clock.nowMilliseconds + this.#wallOffsetMilliseconds,
      writes: (to, when) => this.#wrote(to, when),
      ended: (why) => this.#ended(life, why),
    });
    this.#life = life;
    this.#lived.push(life);
    life.run();
    this.#options.onLeading();
  }

  /** Killed, without a word to anybody; another one starts after a while. */
  crash(why: string, restartAfterMilliseconds = restartMilliseconds): void {
    const life = this.#life;
    if (life === null) return;
    this.#life = null;
    this.#points = [];
    life.kill();
    this.#options.onLeading();
    this.#options.onEnd(why, actorOf(this.#options.number, this.#lives));
    this.#options.clock.after(restartAfterMilliseconds, () => this.start());
  }

  /**
   * Releases everything of its earlier processes once they are not observed any more: Node keeps an AbortSignal with
   * listeners, and everything they reference, until it is aborted.
   */
  end(): void {
    this.#life = null;
    for (const life of this.#lived) life.end();
  }

  /** Calls back at that write of the present life. */
  atWrite(point: WritePoint, reached: () => void): void {
    this.#points.push({ ...point, reached });
  }

  /** As SIGTERM does it. */
  stop(restartAfterMilliseconds = restartMilliseconds): void {
    const life = this.#life;
    if (life === null) return;
    void this.#stopped(life, restartAfterMilliseconds);
  }

  async #stopped(life: Life, restartAfterMilliseconds: number): Promise<void> {
    await life.stop();
    if (this.#life === life) this.crash('was stopped', restartAfterMilliseconds);
  }

  /** As a Deployment brings another flag: it is stopped, and the next one has the feature gate the other way. */
  flipGate(): void {
    this.#strategies = { ...this.#strategies, onDeleteEnabled: !this.#strategies.onDeleteEnabled };
    this.stop();
  }

  /** As SIGSTOP and SIGCONT do it. */
  freeze(milliseconds: number): void {
    this.#life?.freeze(milliseconds);
  }

  moveWall(milliseconds: number): void {
    this.#wallOffsetMilliseconds += milliseconds;
  }

  #wrote(to: 'pod' | 'any', when: WritePoint['when']): void {
    for (const point of this.#points.filter((one) => one.when === when && (one.to === 'any' || one.to === to))) {
      point.writes -= 1;
      if (point.writes > 0) continue;
      this.#points = this.#points.filter((one) => one !== point);
      point.reached();
    }
  }

  #ended(life: Life, why: string): void {
    if (this.#life === life) this.crash(why);
  }
}

const actorOf = (number: number, life: number): string => `controller-${number}.${life}`;

interface Dependencies {
  readonly wall: () => number;
  readonly writes: Client['writes'];
  readonly ended: (why: string) => void;
}

/** One run of the program, put together as `src/program.ts` does it, with the simulation for a world. */
class Life {
  readonly #options: ProcessOptions;
  readonly #dependencies: Dependencies;
  readonly #stop = new AbortController();
  readonly #controller: Controller;
  readonly #elector: LeaseElector | null;
  readonly #held: (() => void)[] = [];
  #alive = true;
  #frozen = false;

  constructor(options: ProcessOptions, identity: string, dependencies: Dependencies) {
    const { clock, chance, network, number, strategies, electsLeader } = options;
    this.#options = options;
    this.#dependencies = dependencies;
    const client: Client = {
      process: number,
      actor: identity,
      deliver: (callback) => this.#deliver(callback),
      writes: dependencies.writes,
      isAlive: () => this.#alive,
      onReported: (object, type) => options.onReported(identity, object, type),
      onAnswered: (request, code) => options.onAnswered(identity, request, code),
    };
    const bornMilliseconds = clock.nowMilliseconds;
    const machine: World = {
      monotonic: () => clock.nowMilliseconds - bornMilliseconds,
      wall: dependencies.wall,
      // As Node's own: whole milliseconds, and at least one.
      timer: (milliseconds, callback) =>
        clock.after(Math.max(1, Math.trunc(milliseconds)), () => this.#deliver(callback)),
      random: () => chance.next(),
      exchange: (request) => network.exchange(client, request),
    };
    const world = onServerClock(machine, silent);
    const api = new ObjectClient({ world, qps, burst });
    this.#elector = electsLeader
      ? new LeaseElector({
          client: api,
          world,
          log: silent,
          namespace: 'moco-rollout-system',
          name: 'moco-rollout',
          identity,
          leaseDurationMilliseconds: 15_000,
          renewDeadlineMilliseconds: 10_000,
          retryPeriodMilliseconds: 2_000,
          onStartedLeading: () => {
            options.onLeading();
            void this.#controller.work();
          },
          onStoppedLeading: () => this.#dependencies.ended('lost its lease'),
        })
      : null;
    const registry = new Registry();
    this.#controller = new Controller({
      client: api,
      world,
      delays: options.delays,
      members: options.members,
      readCheck: options.readCheck,
      log: options.log ?? silent,
      metrics: {
        rollouts: new RolloutMetrics(registry, true),
        workQueues: new WorkQueueMetrics(registry),
        caches: new CacheMetrics(registry),
        fleet: new FleetMetrics(registry),
        checks: new CheckMetrics(registry),
      },
      defaults: { policy: defaultPolicy, strategy: builtInStrategy },
      strategies,
      leavingSigns: usualSigns,
      fleetLimits: noFleetLimits,
      mocoLease: usualLease,
      namespaces: [],
      concurrency: 8,
      dryRunPods: true,
      confirmationTimeoutMilliseconds: 2000,
      holder: identity,
      isLeading: () => this.isLeading,
    });
  }

  run(): void {
    const failed = (error: unknown): void => this.#dependencies.ended(`failed: ${String(error)}`);
    this.#controller.watch(this.#stop.signal).catch(failed);
    (this.#elector?.run(this.#stop.signal) ?? this.#controller.work()).catch(failed);
    this.#options.clock.wake();
  }

  get isFrozen(): boolean {
    return this.#frozen;
  }

  get isLeading(): boolean {
    return !this.#stop.signal.aborted && (this.#elector?.isLeader() ?? true);
  }

  kill(): void {
    this.#alive = false;
    this.#held.length = 0;
  }

  end(): void {
    this.kill();
    this.#stop.abort();
  }

  async stop(): Promise<void> {
    await this.#controller.drain(drainMilliseconds);
    this.#stop.abort();
    this.#options.onLeading();
    await this.#elector?.release();
  }

  freeze(milliseconds: number): void {
    this.#frozen = true;
    this.#options.onLeading();
    this.#options.clock.after(milliseconds, () => {
      this.#frozen = false;
      this.#options.onLeading();
      for (const callback of this.#held.splice(0)) this.#deliver(callback);
    });
  }

  #deliver(callback: () => void): void {
    if (!this.#alive) return;
    if (this.#frozen) {
      this.#held.push(callback);
      return;
    }
    this.#options.clock.wake();
    callback();
  }
}
