import { setTimeout as pause } from 'node:timers/promises';
import { demotedForAnnotation } from '../../../src/moco/names.ts';
import { RolloutCluster } from '../../cluster/rollout-cluster.ts';
import { History } from '../../cluster/rollout-history.ts';
import { controllerUser, storyOf } from '../../cluster/rollout-story.ts';
import { startControlPlane } from '../../support/control-plane/control-plane.ts';
import { Stage } from '../../support/stage/stage.ts';
import { Chance } from '../simulation/chance.ts';
import { hear } from '../witness/hear.ts';
import { type Act, type ClusterPlan, drawDisturbances } from './acts.ts';
import { Replicas } from './replicas.ts';

export interface ChaosOptions {
  readonly seed: string;
  readonly acts: readonly Act[];
  /** Clusters at a time. */
  readonly sideBySide: number;
  /** No cluster is begun after that. */
  readonly milliseconds: number;
  readonly onLine: (line: string) => void;
}

/** The results of a run. */
export interface Tally {
  rollouts: number;
  steps: number;
  disruptions: number;
  needless: number;
  switchovers: number;
  violations: number;
  races: number;
  /** Rollouts that never ended. */
  lost: number;
  disturbances: number;
  kills: number;
  processes: number;
  mocoRestarts: number;
  /** Those of them with which every process of ours was killed as well. */
  restartsTogether: number;
  /** Processes that ended by a defect. */
  readonly defects: string[];
}

/** How long processes and moco-controller are left alone, and how long the latter is down. */
const calm = { fromMilliseconds: 3000, toMilliseconds: 9000 } as const;
const mocoStays = { fromMilliseconds: 2000, toMilliseconds: 10_000 } as const;
const mocoIsAway = { fromMilliseconds: 200, toMilliseconds: 6000 } as const;
/** MOCO's own order of things, sooner. */
const partition = { notReconciled: 100, notReady: 200, afterStep: 100, available: 1000 };
const replicaCount = 2;
const stackLine = /^\s+at /;

/**
 * Plays rollouts on real control planes while the controller's processes are killed, frozen and cut off, and
 * moco-controller restarts. Those of one driver have one control plane after those of the other.
 */
export async function playChaos(options: ChaosOptions): Promise<Tally> {
  const tally: Tally = {
    rollouts: 0,
    steps: 0,
    disruptions: 0,
    needless: 0,
    switchovers: 0,
    violations: 0,
    races: 0,
    lost: 0,
    disturbances: 0,
    kills: 0,
    processes: 0,
    mocoRestarts: 0,
    restartsTogether: 0,
    defects: [],
  };
  const endsAt = performance.now() + options.milliseconds;
  for (const driver of ['moco', 'own'] as const) {
    const acts = options.acts.filter((act) => act.driver === driver && act.plans.length > 0);
    if (acts.length === 0) continue;
    const controlPlane = await startControlPlane();
    try {
      const stage = await Stage.open(controlPlane, { partitionDriver: driver, partition });
      const history = await History.start(stage.client);
      for (const act of acts) await new Play({ stage, history }, act, options, tally, endsAt).run();
      await history.stop();
      await stage.close();
    } finally {
      await controlPlane.stop();
    }
  }
  return tally;
}

interface Ground {
  readonly stage: Stage;
  readonly history: History;
}

/** One act. */
class Play {
  readonly #stage: Stage;
  readonly #history: History;
  readonly #act: Act;
  readonly #options: ChaosOptions;
  readonly #tally: Tally;
  readonly #endsAt: number;
  readonly #seed: string;

  constructor({ stage, history }: Ground, act: Act, options: ChaosOptions, tally: Tally, endsAt: number) {
    this.#stage = stage;
    this.#history = history;
    this.#act = act;
    this.#options = options;
    this.#tally = tally;
    this.#endsAt = endsAt;
    this.#seed = `${options.seed}/${options.acts.indexOf(act)}`;
  }

  async run(): Promise<void> {
    const replicas = new Replicas({
      stage: this.#stage,
      elects: this.#act.elects,
      hasGate: this.#act.driver === 'moco',
      count: replicaCount,
      onEnd: (log) => this.#noteEnd(log),
    });
    await replicas.start();
    const ending = new AbortController();
    const troubles = [this.#disturb(replicas, ending.signal), this.#restartMoco(replicas, ending.signal)];
    const queue = [...this.#act.plans];
    const worker = async (): Promise<void> => {
      for (let plan = queue.shift(); plan !== undefined; plan = queue.shift()) {
        if (performance.now() > this.#endsAt) return;
        await this.#playCluster(plan);
      }
    };
    try {
      await Promise.all(Array.from({ length: this.#options.sideBySide }, worker));
    } finally {
      ending.abort();
      await Promise.all(troubles);
      await replicas.stop();
    }
    this.#tally.kills += replicas.kills;
    this.#tally.processes += replicas.started;
  }

  /** One that loses its lease ends by itself, and one that finds no API server when it starts, each with a sentence. */
  #noteEnd(log: string): void {
    const said = log.split('\n').filter((line) => line !== '' && !line.startsWith('{'));
    if (said.some((line) => line.includes('a defect:') || stackLine.test(line))) {
      this.#tally.defects.push(`a process fell:\n${said.join('\n')}`);
    }
  }

  async #disturb(replicas: Replicas, signal: AbortSignal): Promise<void> {
    const chance = new Chance(`${this.#seed}/calm`);
    for (const disturbance of drawDisturbances(this.#seed)) {
      await sleep(chance.between(calm.fromMilliseconds, calm.toMilliseconds), signal);
      if (signal.aborted) return;
      this.#tally.disturbances += 1;
      await replicas.disturb(disturbance, chance.whole(0, replicaCount - 1));
    }
  }

  /** Every second time all of our processes are killed as well, before or after it. */
  async #restartMoco(replicas: Replicas, signal: AbortSignal): Promise<void> {
    const chance = new Chance(`${this.#seed}/moco`);
    const { moco } = this.#stage;
    for (;;) {
      await sleep(chance.between(mocoStays.fromMilliseconds, mocoStays.toMilliseconds), signal);
      if (signal.aborted) return;
      const isTogether = this.#tally.mocoRestarts % 2 === 0;
      const oursFirst = chance.happens(0.5);
      if (isTogether && oursFirst) replicas.killAll();
      await moco.pause();
      if (isTogether && !oursFirst) replicas.killAll();
      this.#tally.mocoRestarts += 1;
      this.#tally.restartsTogether += isTogether ? 1 : 0;
      await sleep(chance.between(mocoIsAway.fromMilliseconds, mocoIsAway.toMilliseconds), signal);
      await moco.resume();
    }
  }

  async #playCluster(plan: ClusterPlan): Promise<void> {
    const beganAt = performance.now();
    const { name: namespace, replicas, images } = plan;
    const cluster = new RolloutCluster(this.#stage, this.#history, namespace);
    let lost: string | null = null;
    try {
      await cluster.create({ replicas });
      await this.#rests(cluster);
      for (const image of images) {
        this.#tally.rollouts += 1;
        await cluster.setImage(image);
        await this.#rests(cluster);
      }
    } catch (error) {
      lost = String(error);
    }
    await this.#judge(plan, cluster, lost, (performance.now() - beganAt) / 1000);
    if (lost === null) await this.#stage.controlPlane.kubectl('delete', 'namespace', namespace, '--wait=false');
    this.#history.forget(namespace);
  }

  async #rests(cluster: RolloutCluster): Promise<void> {
    await cluster.completes();
    await (this.#act.driver === 'moco' ? cluster.isTaken() : cluster.isByPartitions());
    await cluster.until('no demotion of ours is left', ({ pods }) =>
      pods.every(({ metadata }) => metadata.annotations?.[demotedForAnnotation] === undefined),
    );
  }

  async #judge(
    plan: ClusterPlan,
    { namespace, name }: RolloutCluster,
    lost: string | null,
    seconds: number,
  ): Promise<void> {
    const { onLine } = this.#options;
    const { driver, elects } = this.#act;
    const audit = (await this.#stage.controlPlane.audit()).filter(
      ({ objectRef }) => objectRef?.namespace === namespace,
    );
    const witness = hear(this.#history.witnessed(namespace), audit, controllerUser, { minReadySeconds: 0 });
    const { disruptions, needless, switchovers } = witness.measures(`${namespace}/${name}`, 0);
    const most = plan.images.length;
    if (driver === 'moco' && switchovers > most) {
      witness.object('I8', `${switchovers} switchovers where ${most} would do`, Date.now());
    }
    const story = storyOf(audit, namespace);
    const steps = story.filter(({ by, code }) => by === 'controller' && code < 300).length;
    const violations = witness.findings.filter(({ kind }) => kind === 'violation');
    const tally = this.#tally;
    tally.steps += steps;
    tally.disruptions += disruptions;
    tally.needless += needless;
    tally.switchovers += switchovers;
    tally.violations += violations.length;
    tally.races += witness.findings.length - violations.length;
    tally.lost += lost === null ? 0 : 1;
    const how = `${driver === 'moco' ? 'at OnDelete' : 'by our partitions'}, ${elects ? 'one leads' : 'both act'}`;
    onLine(
      `${namespace}: ${plan.replicas} members, ${how}: ${steps} steps, ${disruptions} disruptions, ${seconds.toFixed(1)} s`,
    );
    for (const { kind, law, text } of witness.findings) onLine(`  → ${kind}: ${law}: ${text}`);
    if (lost !== null) onLine(`  → lost: ${lost}: ${JSON.stringify(this.#history.now(namespace).rollout?.status)}`);
    if (needless > 0) onLine(`  → ${needless} disruptions more than needed`);
    if (lost === null && needless === 0 && violations.length === 0) return;
    for (const { at, by, text } of story) onLine(`    ${at.slice(11, 23)} ${by.padEnd(10)} ${text}`);
  }
}

/** Resolves after the delay, or when cancelled. */
async function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  await pause(milliseconds, undefined, { signal }).catch(() => undefined);
}
