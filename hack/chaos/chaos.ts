import { setTimeout as pause } from 'node:timers/promises';
import { Chance } from '../../test/simulation/chance.ts';
import type { ControlPlane } from '../control-plane/control-plane.ts';
import { Stage } from '../stage/stage.ts';
import { ClusterUnderChaos, clusterName, describe, LostRollout } from './cluster-under-chaos.ts';
import { Fates } from './fates.ts';
import { judge, type Verdict } from './judge.ts';
import { type ClusterPlan, changesOf, drawDisturbances } from './plan.ts';
import { StoreRecord } from './record.ts';
import { Replicas } from './replicas.ts';
import { type Asked, StoreClock } from './store-clock.ts';
import { Tally } from './tally.ts';

export interface ChaosOptions {
  readonly seed: string;
  readonly acts: readonly Act[];
  /** Whether processes are disturbed in between as well, and not at the points of the plans alone. */
  readonly disturbs: boolean;
  /** Clusters at a time. */
  readonly sideBySide: number;
  /** No cluster is begun after that. */
  readonly milliseconds: number;
  readonly onLine: (line: string) => void;
}

/** Clusters that meet the same kind of replicas. */
export interface Act {
  /** `false`: all of them act at once, all the time. */
  readonly elect: boolean;
  readonly plans: readonly ClusterPlan[];
}

/**
 * For one rollout. Beyond it, it is lost. An eviction that a budget has counted and that then found another version of the
 * pod keeps the budget closed for two minutes, which may happen more than once.
 */
const patienceMilliseconds = 420_000;
const calm = { fromMilliseconds: 3000, toMilliseconds: 9000 } as const;
const replicaCount = 2;
const stackLine = /^\s+at /;

/** Plays rollouts with a real control plane while the controller's processes are killed, frozen, cut off and lied to. */
export async function playChaos(controlPlane: ControlPlane, options: ChaosOptions): Promise<Tally> {
  const run = await Run.start(controlPlane, options);
  try {
    await run.play();
  } finally {
    await run.close();
  }
  return run.tally;
}

class Run {
  readonly tally: Tally;
  readonly #options: ChaosOptions;
  readonly #stage: Stage;
  readonly #record: StoreRecord;
  readonly #clock: StoreClock;
  readonly #fates: Fates;
  readonly #asked: Asked[] = [];
  readonly #met = new Map<string, string[]>();
  readonly #beganAt = performance.now();
  #judged = 0;

  private constructor(tally: Tally, stage: Stage, record: StoreRecord, clock: StoreClock, options: ChaosOptions) {
    this.tally = tally;
    this.#stage = stage;
    this.#record = record;
    this.#clock = clock;
    this.#options = options;
    this.#fates = new Fates(new Chance(`${options.seed}/errors`), (namespace, actor, words) => {
      const met = this.#met.get(namespace) ?? [];
      met.push(`${new Date().toISOString().slice(11, 23)} ${actor.padEnd(10)} ${words}`);
      this.#met.set(namespace, met);
    });
  }

  static async start(controlPlane: ControlPlane, options: ChaosOptions): Promise<Run> {
    const tally = new Tally();
    const stage = await Stage.open(controlPlane);
    const record = await StoreRecord.start(stage.client, (error) => {
      tally.defects.push(`what the store holds is no longer known: ${String(error)}`);
    });
    return new Run(tally, stage, record, await StoreClock.start(stage.client), options);
  }

  async play(): Promise<void> {
    for (const [generation, act] of this.#options.acts.entries()) await this.#playAct(act, generation);
    this.tally.points = this.#fates.met;
  }

  async close(): Promise<void> {
    await this.#record.stop();
    await this.#stage.close();
  }

  async #playAct({ elect, plans }: Act, generation: number): Promise<void> {
    const { controlPlane } = this.#stage;
    const replicas = new Replicas({
      stage: this.#stage,
      keyPair: await controlPlane.certificates.issue('chaos-proxy', ['127.0.0.1']),
      fates: this.#fates,
      elect,
      count: replicaCount,
      generation,
      onConfirming: (actor, namespace) => this.#noteAsked(actor, namespace),
      onEnd: (actor, log) => this.#noteEnd(actor, log),
    });
    await replicas.start();
    const ending = new AbortController();
    const disturbing = this.#disturb(replicas, generation, ending.signal);
    const queue = [...plans];
    const workers = Array.from({ length: this.#options.sideBySide }, async () => {
      for (let plan = queue.shift(); plan !== undefined; plan = queue.shift()) {
        if (performance.now() - this.#beganAt > this.#options.milliseconds) return;
        await this.#playCluster(plan, elect);
      }
    });
    await Promise.all(workers);
    ending.abort();
    await disturbing;
    await replicas.stop();
    this.tally.kills += replicas.kills;
    this.tally.processes += replicas.started;
  }

  async #noteAsked(actor: string, namespace: string): Promise<void> {
    const revision = await this.#clock.revision();
    this.#asked.push({ actor, namespace, revision, atMilliseconds: Date.now() });
  }

  /** One that loses its lease ends by itself, and one that finds no API server when it starts, each with a sentence. */
  #noteEnd(actor: string, log: string): void {
    const said = log.split('\n').filter((line) => line !== '' && !line.startsWith('{'));
    if (said.some((line) => line.includes('a defect:') || stackLine.test(line))) {
      this.tally.defects.push(`${actor} fell:\n${said.join('\n')}`);
    }
  }

  async #disturb(replicas: Replicas, generation: number, signal: AbortSignal): Promise<void> {
    if (!this.#options.disturbs) return;
    const chance = new Chance(`${this.#options.seed}/calm/${generation}`);
    for (const disturbance of drawDisturbances(`${this.#options.seed}/${generation}`)) {
      const calmMilliseconds = chance.between(calm.fromMilliseconds, calm.toMilliseconds);
      await pause(calmMilliseconds, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
      this.tally.disturbances += 1;
      await replicas.disturb(disturbance, chance.whole(0, replicaCount - 1));
    }
  }

  async #playCluster(plan: ClusterPlan, elect: boolean): Promise<void> {
    const cluster = new ClusterUnderChaos(this.#stage, this.#record, plan, patienceMilliseconds);
    const beganAt = performance.now();
    let lost: string | null = null;
    const [first, ...others] = plan.rollouts;
    try {
      this.#fates.await(plan.name, first?.points ?? []);
      await cluster.create();
      for (const rollout of plan.rollouts) {
        if (others.includes(rollout)) this.#fates.await(plan.name, rollout.points);
        this.tally.rollouts += changesOf(rollout.task);
        await cluster.carryOut(rollout.task);
      }
    } catch (error) {
      if (!(error instanceof LostRollout)) throw error;
      lost = error.message;
    }
    this.#fates.await(plan.name, []);
    const verdict = judge({
      namespace: plan.name,
      cluster: clusterName,
      changes: this.#record.changes(plan.name),
      audit: await this.#stage.controlPlane.audit(),
      asked: this.#asked,
      mostSwitchovers: plan.rollouts.reduce((sum, { task }) => sum + (task.kind === 'image' ? 1 : 2), 0),
      ended: lost === null,
    });
    this.tally.add(verdict, lost);
    this.#tell(plan, verdict, lost, elect, (performance.now() - beganAt) / 1000);
    if (lost === null) {
      await cluster.remove();
      this.#record.forget(plan.name);
    }
  }

  #tell(plan: ClusterPlan, verdict: Verdict, lost: string | null, elect: boolean, seconds: number): void {
    const { name, replicas, rollouts } = plan;
    const { witness, steps, disruptions, needless } = verdict;
    const { onLine, seed } = this.#options;
    const met = this.#met.get(name) ?? [];
    this.#judged += 1;
    const all = this.#options.acts.reduce((sum, { plans }) => sum + plans.length, 0);
    const tasks = rollouts.map(({ task }) => task.kind).join(', ');
    const how = elect ? 'one leads' : 'both act';
    onLine(
      `${this.#judged}/${all} ${name}: ${replicas} members, ${how}, ${tasks}: ${steps} steps, ${disruptions} disruptions, ${met.length} points, ${seconds.toFixed(1)} s`,
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
    onLine(`  SEED=${seed} plays the same plan again`);
  }
}
