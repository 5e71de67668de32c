import { rolloutKind, type Strategy } from '../../src/controller/rollout-resource.ts';
import { clusterKind, mysqldContainer } from '../../src/moco/names.ts';
import { statefulSetName } from '../../src/moco/projections.ts';
import { sampleCluster } from '../moco/sample.ts';
import type { RolloutSettings } from './arguments.ts';
import type { DemoStage } from './demo-stage.ts';
import { roughly } from './durations.ts';
import { LiveCluster } from './live-cluster.ts';
import { beginMeasure, isOver, type Measure, measured } from './measure.ts';
import { reactions } from './reaction.ts';
import type { Sight } from './sight.ts';
import { type Summary, summaryOf } from './summary.ts';

export const clusterName = 'test';
export const oldImage = 'mysql:8.4.8';
export const newImage = 'mysql:8.4.9';

/** A sight with what had been measured by then. */
export interface Moment {
  readonly sight: Sight;
  readonly measure: Measure;
}

/** What tells a cluster from one that the controller's flags alone decide about. */
export interface ClusterWishes {
  /** `spec.strategy` of its MySQLRollout. */
  readonly strategy?: Strategy;
  /** Of the MySQLCluster. */
  readonly annotations?: Readonly<Record<string, string>>;
  /** How long whoever replaces its pods does nothing but wait, at most. */
  readonly idleMilliseconds?: number;
}

/** A cluster in a namespace of its own, followed by watches of its own. */
export class DemoCluster {
  readonly #demo: DemoStage;
  readonly #namespace: string;
  readonly #limitMilliseconds: number;
  readonly #live: LiveCluster;

  private constructor(demo: DemoStage, namespace: string, settings: RolloutSettings, idleMilliseconds: number) {
    this.#demo = demo;
    this.#namespace = namespace;
    this.#limitMilliseconds = limitMilliseconds(settings) + idleMilliseconds;
    this.#live = new LiveCluster(demo.stage.client, demo.stage.world, namespace, clusterName);
  }

  /** Resolves once the controller calls it complete. */
  static async create(
    demo: DemoStage,
    namespace: string,
    settings: RolloutSettings,
    { strategy, annotations = {}, idleMilliseconds = 0 }: ClusterWishes = {},
  ): Promise<DemoCluster> {
    await demo.stage.createNamespace(namespace);
    const cluster = new DemoCluster(demo, namespace, settings, idleMilliseconds);
    try {
      if (strategy !== undefined) {
        const { group, version, kind } = rolloutKind;
        const metadata = { namespace, name: clusterName };
        const rollout = { apiVersion: `${group}/${version}`, kind, metadata, spec: { strategy } };
        await demo.stage.client.create(rolloutKind, { namespace }, rollout, { lane: 'disrupt' });
      }
      const { members: replicas } = settings;
      const body = sampleCluster({ name: clusterName, namespace, replicas, image: oldImage, annotations });
      await demo.stage.client.create(clusterKind, { namespace }, body, { lane: 'disrupt' });
      await cluster.#until('the new cluster to be complete', isAtRest);
      return cluster;
    } catch (error) {
      await cluster.stop();
      throw error;
    }
  }

  /**
   * Changes the image; resolves once the rollout is complete and the MySQLRollout says so. Rejects with a sentence where
   * that takes far longer than it can.
   *
   * @param onMoment told of every sight, and of the one before
   */
  async rollOut(onMoment: (now: Moment, before: Moment) => void): Promise<Summary> {
    const { controlPlane, stage } = this.#demo;
    const sinceMilliseconds = stage.world.wall();
    const measure = await this.measure(onMoment);
    const events = (await controlPlane.audit()).filter(({ objectRef }) => objectRef?.namespace === this.#namespace);
    return summaryOf(measure, reactions(events, sinceMilliseconds), statefulSetName(clusterName));
  }

  /** As {@link rollOut}, whoever replaces the pods: nothing is asked of who did what. */
  async measure(onMoment: (now: Moment, before: Moment) => void = () => undefined): Promise<Measure> {
    const { stage, race } = this.#demo;
    const { world } = stage;
    const sight = this.#live.sight;
    if (sight === null) throw new Error('Expected a cluster that has been seen, got one that has not');
    let moment: Moment = { sight, measure: beginMeasure(world.monotonic()) };
    onMoment(moment, moment);
    const unsubscribe = this.#live.onSight((next) => {
      const before = moment;
      moment = { sight: next, measure: measured(before.measure, before.sight, next) };
      onMoment(moment, before);
    });
    try {
      const generation = await race(this.#changeImage());
      const isDone = (next: Sight): boolean =>
        next.generation >= generation && isAtRest(next) && isOver(moment.measure, next);
      await this.#until('the rollout to be complete', isDone);
    } finally {
      unsubscribe();
    }
    return moment.measure;
  }

  stop(): Promise<void> {
    return this.#live.stop();
  }

  /** Resolves to the generation that asks for the new image. */
  async #changeImage(): Promise<number> {
    const changed = await this.#demo.stage.client.patch<{ metadata: { generation: number } }>(
      clusterKind,
      { namespace: this.#namespace, name: clusterName },
      'application/merge-patch+json',
      { spec: { podTemplate: { spec: { containers: [{ name: mysqldContainer, image: newImage }] } } } },
      { lane: 'disrupt' },
    );
    return changed.metadata.generation;
  }

  async #until(what: string, condition: (sight: Sight) => boolean): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const look = (sight: Sight | null): void => {
      if (sight !== null && condition(sight)) resolve();
    };
    const unsubscribe = this.#live.onSight(look);
    const limit = this.#limitMilliseconds;
    const timer = setTimeout(() => reject(new Error(overdue(what, limit, this.#live.sight))), limit);
    try {
      look(this.#live.sight);
      await this.#demo.race(promise);
    } finally {
      clearTimeout(timer);
      unsubscribe();
    }
  }
}

/** Complete, promoted, and the MySQLRollout says nothing else any more than that Kubernetes itself is to roll. */
function isAtRest({ complete, status, updateRevision }: Sight): boolean {
  const rests = status?.phase === 'UpToDate' || status?.hold?.rule === 'ForcedRollingUpdate';
  return complete && rests && status.updateRevision === updateRevision;
}

/** However slow the machine, beyond this something is wrong. */
const leastLimitMilliseconds = 60_000;
const restartsAMember = 5;

function limitMilliseconds({ members, restartMilliseconds }: RolloutSettings): number {
  return leastLimitMilliseconds + restartsAMember * members * restartMilliseconds;
}

function overdue(what: string, limit: number, sight: Sight | null): string {
  const sentence = `Expected ${what} within ${roughly(limit)}, it is not`;
  if (sight === null) return `${sentence}: there is no MySQLCluster to be seen`;
  const { status, members, healthy, complete, updateRevision } = sight;
  const hold = status?.hold === undefined ? 'no hold' : `held by ${status.hold.rule} (${status.hold.message})`;
  const seen = members.map(({ name, revision, role, state }) => `${name} ${state}, role ${role}, at ${revision}`);
  const phase = `phase ${status?.phase} of ${status?.updateRevision}`;
  const condition = `${complete ? '' : 'not '}RolloutComplete, ${healthy ? '' : 'not '}Healthy`;
  return [`${sentence}: ${hold}`, `${phase}, ${condition}, update revision ${updateRevision}`, ...seen].join('; ');
}
