import { setTimeout as pause } from 'node:timers/promises';
import { startControlPlane } from '../../support/control-plane/control-plane.ts';
import { Stage } from '../../support/stage/stage.ts';
import { Chance } from '../simulation/chance.ts';
import { Ability } from '../witness/ability.ts';
import { ClusterUnderChaos, clusterName, describe, LostRollout } from './cluster-under-chaos.ts';
import { drawDisturbances } from './disturbance.ts';
import { Fates } from './fates.ts';
import { judge, type Verdict } from './judge.ts';
import { type Act, type ClusterPlan, changesOf, type Driver, mostSwitchovers } from './plan.ts';
import { StoreRecord } from './record.ts';
import { Replicas } from './replicas.ts';
import { type Asked, StoreClock } from './store-clock.ts';
import { Tally } from './tally.ts';

export interface ChaosOptions {
  readonly seed: string;
  readonly acts: readonly Act[];
  /** Whether processes are disturbed in between as well, and not at the points of the plans alone. */
  readonly disturbs: boolean;
  /** Whether moco-controller is killed and restarted in between, alone and together with every process of ours. */
  readonly restartsMoco: boolean;
  /** Clusters at a time. */
  readonly sideBySide: number;
  /** No cluster is begun after that. */
  readonly milliseconds: number;
  /** For one rollout. Beyond it, it is lost. */
  readonly patienceMilliseconds?: number;
  /** Nobody waits for anything once something has been found. */
  readonly endsAtFailure?: boolean;
  readonly onLine: (line: string) => void;
}

/**
 * An eviction that a budget has counted and that then found another version of the pod keeps the budget closed for two
 * minutes, which may happen more than once.
 */
const defaultPatienceMilliseconds = 420_000;
const calm = { fromMilliseconds: 3000, toMilliseconds: 9000 } as const;
/** The time between two restarts of moco-controller, and how long it is down. */
const mocoStays = { fromMilliseconds: 500, toMilliseconds: 4000 } as const;
const mocoIsAway = { fromMilliseconds: 200, toMilliseconds: 6000 } as const;
/** Between two flips of the gate. */
const gateStays = { fromMilliseconds: 6000, toMilliseconds: 15_000 } as const;
/** MOCO's own order of things, sooner. */
const partitionIntervals = { notReconciled: 100, notReady: 200, afterStep: 100, available: 1000 };
const replicaCount = 2;
/** Before a member is taken: processes start again, and one of them gets the lease. */
const settlesMilliseconds = 6000;
/** After that the witness takes them for able to act. */
const ableMilliseconds = 10_500;
/** How long a fate may keep a process from acting. */
const fateMilliseconds = 25_000;
const stackLine = /^\s+at /;

/**
 * Plays rollouts on real control planes while the controller's processes are killed, frozen, cut off and lied to. Those of
 * one driver have one control plane after those of the other.
 */
export async function playChaos(options: ChaosOptions): Promise<Tally> {
  const tally = new Tally();
  const progress = { beganAt: performance.now(), judged: 0 };
  for (const driver of ['moco', 'own'] as const) {
    const acts = options.acts.filter((act) => act.driver === driver && act.plans.length > 0);
    if (acts.length === 0) continue;
    const run = await Run.start(driver, tally, progress, options);
    try {
      for (const act of acts) await run.playAct(act, options.acts.indexOf(act));
    } finally {
      await run.close();
    }
  }
  return tally;
}

interface Progress {
  readonly beganAt: number;
  judged: number;
}

/** What is played on one control plane. */
class Run {
  readonly #tally: Tally;
  readonly #progress: Progress;
  readonly #options: ChaosOptions;
  readonly #stage: Stage;
  readonly #record: StoreRecord;
  readonly #clock: StoreClock;
  readonly #fates: Fates;
  readonly #asked: Asked[] = [];
  readonly #met = new Map<string, string[]>();
  readonly #withoutGate = new Set<string>();
  readonly #over = Promise.withResolvers<void>();
  readonly #ability = new Ability();
  /** Clusters that need calm at the moment. */
  #calm = 0;

  private constructor(
    tally: Tally,
    progress: Progress,
    stage: Stage,
    record: StoreRecord,
    clock: StoreClock,
    options: ChaosOptions,
  ) {
    this.#tally = tally;
    this.#progress = progress;
    this.#stage = stage;
    this.#record = record;
    this.#clock = clock;
    this.#options = options;
    this.#fates = new Fates(new Chance(`${options.seed}/errors`), (namespace, actor, words) => {
      this.#ability.impede(Date.now() - 1, Date.now() + fateMilliseconds);
      const met = this.#met.get(namespace) ?? [];
      met.push(`${new Date().toISOString().slice(11, 23)} ${actor.padEnd(10)} ${words}`);
      this.#met.set(namespace, met);
    });
  }

  static async start(driver: Driver, tally: Tally, progress: Progress, options: ChaosOptions): Promise<Run> {
    const controlPlane = await startControlPlane();
    try {
      const stage = await Stage.open(controlPlane, { partitionDriver: driver, partition: partitionIntervals });
      const record = await StoreRecord.start(stage.client, (error) => {
        tally.defects.push(`what the store holds is no longer known: ${String(error)}`);
      });
      return new Run(tally, progress, stage, record, await StoreClock.start(stage.client), options);
    } catch (error) {
      await controlPlane.stop();
      throw error;
    }
  }

  async close(): Promise<void> {
    this.#tally.points += this.#fates.met;
    await this.#record.stop();
    await this.#stage.close();
    await this.#stage.controlPlane.stop();
  }

  async playAct(act: Act, generation: number): Promise<void> {
    const { controlPlane } = this.#stage;
    const replicas = new Replicas({
      stage: this.#stage,
      keyPair: await controlPlane.certificates.issue('chaos-proxy', ['127.0.0.1']),
      fates: this.#fates,
      elects: act.elects,
      count: replicaCount,
      generation,
      onConfirming: (actor, namespace) => this.#noteAsked(actor, namespace),
      onStart: (actor, hasGate) => {
        if (!hasGate) this.#withoutGate.add(actor);
      },
      onEnd: (actor, log) => this.#noteEnd(actor, log),
    });
    await replicas.start();
    const ending = new AbortController();
    const disturbing = [
      this.#disturb(replicas, generation, ending.signal),
      this.#flipGate(replicas, act, generation, ending.signal),
      this.#restartMoco(replicas, generation, ending.signal),
    ];
    const queue = [...act.plans];
    const workers = Array.from({ length: this.#options.sideBySide }, async () => {
      for (let plan = queue.shift(); plan !== undefined; plan = queue.shift()) {
        if (this.#isOver()) return;
        await this.#playCluster(plan, act);
      }
    });
    try {
      await Promise.all(workers);
    } finally {
      ending.abort();
      await Promise.all(disturbing);
      await replicas.stop();
    }
    this.#tally.kills += replicas.kills;
    this.#tally.processes += replicas.started;
  }

  #isOver(): boolean {
    return performance.now() - this.#progress.beganAt > this.#options.milliseconds || this.#isEnded();
  }

  #isEnded(): boolean {
    return this.#options.endsAtFailure === true && this.#tally.isFailure;
  }

  async #noteAsked(actor: string, namespace: string): Promise<void> {
    const revision = await this.#clock.revision();
    this.#asked.push({ actor, namespace, revision, atMilliseconds: Date.now() });
  }

  /** One that loses its lease ends by itself, and one that finds no API server when it starts, each with a sentence. */
  #noteEnd(actor: string, log: string): void {
    const said = log.split('\n').filter((line) => line !== '' && !line.startsWith('{'));
    if (said.some((line) => line.includes('a defect:') || stackLine.test(line))) {
      this.#tally.defects.push(`${actor} fell:\n${said.join('\n')}`);
    }
  }

  async #disturb(replicas: Replicas, generation: number, signal: AbortSignal): Promise<void> {
    if (!this.#options.disturbs) return;
    const chance = new Chance(`${this.#options.seed}/calm/${generation}`);
    for (const disturbance of drawDisturbances(`${this.#options.seed}/${generation}`)) {
      await sleep(chance.between(calm.fromMilliseconds, calm.toMilliseconds), signal);
      await this.#untilDisturbable(signal);
      if (signal.aborted) return;
      this.#tally.disturbances += 1;
      await replicas.disturb(disturbance, chance.whole(0, replicaCount - 1));
    }
  }

  /** Nothing befalls a process meanwhile but what waits at points of a step. */
  async #calmly(act: () => Promise<void>): Promise<void> {
    this.#calm += 1;
    try {
      await pause(settlesMilliseconds);
      this.#ability.leads(true, Date.now());
      await pause(ableMilliseconds);
      await act();
    } finally {
      this.#calm -= 1;
      if (this.#calm === 0) this.#ability.leads(false, Date.now());
    }
  }

  async #untilDisturbable(signal: AbortSignal): Promise<void> {
    while (this.#calm > 0 && !signal.aborted) await sleep(200, signal);
  }

  async #flipGate(replicas: Replicas, { flipsGate }: Act, generation: number, signal: AbortSignal): Promise<void> {
    if (!flipsGate) return;
    const chance = new Chance(`${this.#options.seed}/gate/${generation}`);
    for (;;) {
      await sleep(chance.between(gateStays.fromMilliseconds, gateStays.toMilliseconds), signal);
      if (signal.aborted) return;
      this.#tally.flips += 1;
      await replicas.flipGate();
    }
  }

  /** Every second time all of our processes are killed as well, before or after it. */
  async #restartMoco(replicas: Replicas, generation: number, signal: AbortSignal): Promise<void> {
    if (!this.#options.restartsMoco) return;
    const chance = new Chance(`${this.#options.seed}/moco/${generation}`);
    const { moco } = this.#stage;
    while (!signal.aborted) {
      await sleep(chance.between(mocoStays.fromMilliseconds, mocoStays.toMilliseconds), signal);
      await this.#untilDisturbable(signal);
      if (signal.aborted) return;
      const allOrAbort = this.#tally.mocoRestarts % 2 === 0;
      const oursFirst = chance.happens(0.5);
      if (allOrAbort && oursFirst) replicas.killAll();
      await moco.pause();
      if (allOrAbort && !oursFirst) replicas.killAll();
      this.#tally.mocoRestarts += 1;
      this.#tally.restartsTogether += allOrAbort ? 1 : 0;
      await sleep(chance.between(mocoIsAway.fromMilliseconds, mocoIsAway.toMilliseconds), signal);
      await moco.resume();
    }
  }

  async #playCluster(plan: ClusterPlan, act: Act): Promise<void> {
    const { driver, flipsGate } = act;
    const { patienceMilliseconds = defaultPatienceMilliseconds } = this.#options;
    const circumstances = {
      stage: this.#stage,
      record: this.#record,
      patienceMilliseconds,
      flipsGate,
      calmly: (act: () => Promise<void>) => this.#calmly(act),
      over: this.#over.promise,
    };
    const cluster = new ClusterUnderChaos(plan, circumstances);
    const beganAt = performance.now();
    let lost: string | null = null;
    const [first, ...others] = plan.rollouts;
    try {
      this.#fates.await(plan.name, first?.points ?? []);
      await cluster.create();
      for (const rollout of plan.rollouts) {
        if (others.includes(rollout)) this.#fates.await(plan.name, rollout.points);
        this.#tally.rollouts += changesOf(rollout.task);
        if (rollout.task.kind === 'flip') this.#tally.flips += 1;
        await cluster.carryOut(rollout.task);
      }
    } catch (error) {
      lost = error instanceof LostRollout ? error.message : `its user could not go on: ${String(error)}`;
    }
    this.#fates.await(plan.name, []);
    if (this.#isEnded()) return;
    const verdict = judge({
      namespace: plan.name,
      cluster: clusterName,
      changes: this.#record.changes(plan.name),
      audit: await this.#stage.controlPlane.audit(),
      asked: this.#asked,
      mostSwitchovers: mostSwitchovers(plan, act),
      ended: lost === null,
      driver,
      ability: this.#ability,
      withoutGate: this.#withoutGate,
    });
    this.#tally.add(verdict, lost);
    if (this.#isEnded()) this.#over.resolve();
    this.#tell(plan, verdict, lost, act, (performance.now() - beganAt) / 1000);
    if (lost === null) {
      await cluster.remove();
      this.#record.forget(plan.name);
    }
  }

  #tell(plan: ClusterPlan, verdict: Verdict, lost: string | null, act: Act, seconds: number): void {
    const { name, replicas, rollouts, strategy } = plan;
    const { witness, steps, disruptions, needless } = verdict;
    const { onLine, seed, acts } = this.#options;
    const met = this.#met.get(name) ?? [];
    this.#progress.judged += 1;
    const all = acts.reduce((sum, { plans }) => sum + plans.length, 0);
    const tasks = rollouts
      .map(({ task }) =>
        task.kind === 'flip' ? `flip to ${task.to}` : task.kind === 'lost' ? `lost by ${task.how}` : task.kind,
      )
      .join(', ');
    const how = `${act.elects ? 'one leads' : 'both act'}${act.flipsGate ? ', the gate flips' : ''}`;
    onLine(
      `${this.#progress.judged}/${all} ${name}: ${replicas} members, ${strategy} beside ${act.driver}, ${how}, ${tasks}: ${steps} steps, ${disruptions} disruptions, ${met.length} points, ${seconds.toFixed(1)} s`,
    );
    for (const { kind, law, text, atMilliseconds, windowMilliseconds } of witness.findings) {
      const at = new Date(atMilliseconds).toISOString().slice(11, 23);
      onLine(`  → ${kind} at ${at}: ${law}: ${text} (window ${windowMilliseconds} ms)`);
    }
    if (lost !== null) onLine(`  → lost: ${lost}`);
    if (needless > 0) onLine(`  → ${needless} disruptions more than needed`);
    const isFailure = lost !== null || needless > 0 || witness.findings.some(({ kind }) => kind === 'violation');
    if (!isFailure) return;
    const log = this.#stage.controllers.flatMap((controller) => controller.log.split('\n'));
    const about = log.filter((line) => line.includes(`"${name}/${clusterName}"`)).slice(-40);
    for (const line of [...met, ...verdict.story].toSorted()) onLine(`    ${line}`);
    for (const line of [...describe(this.#record.present(name)), ...about]) onLine(`    ${line}`);
    onLine(`  SEED=${seed} REPLAY=${name} make chaos`);
  }
}

/** Resolves after the delay, or when cancelled. */
async function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  await pause(milliseconds, undefined, { signal }).catch(() => undefined);
}
