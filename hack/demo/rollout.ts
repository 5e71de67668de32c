import { clusterKind, mysqldContainer } from '../../src/moco/names.ts';
import { statefulSetName } from '../../src/moco/projections.ts';
import { sampleCluster } from '../moco/sample.ts';
import type { RolloutSettings } from './arguments.ts';
import type { DemoStage } from './demo-stage.ts';
import { roughly } from './durations.ts';
import { type LiveCluster, LiveClusters } from './live-cluster.ts';
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

/** A cluster in a namespace of its own, followed by watches of its own. */
export class DemoCluster {
  readonly #demo: DemoStage;
  readonly #namespace: string;
  readonly #limitMilliseconds: number;
  readonly #watches: LiveClusters;
  readonly #live: LiveCluster;

  private constructor(demo: DemoStage, namespace: string, settings: RolloutSettings) {
    this.#demo = demo;
    this.#namespace = namespace;
    this.#limitMilliseconds = limitMilliseconds(settings);
    this.#watches = new LiveClusters(demo.stage.client, demo.stage.world, [namespace]);
    this.#live = this.#watches.follow(namespace, clusterName);
  }

  /** Resolves once the controller calls it complete. */
  static async create(demo: DemoStage, namespace: string, settings: RolloutSettings): Promise<DemoCluster> {
    await demo.stage.createNamespace(namespace);
    const cluster = new DemoCluster(demo, namespace, settings);
    try {
      const { members: replicas } = settings;
      const body = sampleCluster({ name: clusterName, namespace, replicas, image: oldImage });
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
    const measure = await this.#measure(onMoment);
    const events = (await controlPlane.audit()).filter(({ objectRef }) => objectRef?.namespace === this.#namespace);
    return summaryOf(measure, reactions(events, sinceMilliseconds), statefulSetName(clusterName));
  }

  async #measure(onMoment: (now: Moment, before: Moment) => void): Promise<Measure> {
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

  async stop(): Promise<void> {
    this.#live.stop();
    await this.#watches.stop();
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

  #until(what: string, condition: (sight: Sight) => boolean): Promise<void> {
    const limit = this.#limitMilliseconds;
    return this.#live.until(condition, limit, (sight) => overdue(what, limit, sight), this.#demo.race);
  }
}

/** Complete, promoted, and the MySQLRollout says nothing else any more. */
function isAtRest({ complete, status, updateRevision }: Sight): boolean {
  return complete && status?.phase === 'UpToDate' && status.updateRevision === updateRevision;
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
