import type { BenchStage } from './bench-stage.ts';
import { BenchCluster, clusterName, inWords } from './cluster.ts';
import { type Gaps, gapsOf } from './gaps.ts';
import { limitOf } from './limit.ts';
import type { LiveClusters } from './live-cluster.ts';
import { type Cell, restartsASecond } from './matrix.ts';
import type { Measure } from './measure.ts';
import { beginObservation, type Observation, observed, restarted } from './observation.ts';
import { Outage } from './outage.ts';
import { type Interval, isDone, newImage } from './scenario.ts';
import type { Turns } from './turns.ts';
import { judgedWay } from './way.ts';

/** One rollout in numbers; durations in milliseconds. */
export interface Result {
  /** From the template change until every member was back and updated; `null` if that waits for a person. */
  readonly rollout: number | null;
  /** A description of the wait, if it waits for a person. */
  readonly stuck: string | null;
  /** The limit by its own restarts; `null` for ways that are not judged. */
  readonly limit: number | null;
  /** For how long no commit was answered, altogether, and whether none was at the end. */
  readonly withoutCommits: { readonly milliseconds: number; readonly goesOn: boolean };
  readonly moves: number;
  readonly mostUnavailable: number;
  /** The time beyond that; `null` likewise, and if waiting was requested. */
  readonly gaps: Gaps | null;
  /** Unavailable members and moves of the primary since the template change. */
  readonly measure: Measure;
  /** Members that went while a backup ran. */
  readonly duringBackup: number;
}

/** How long nothing may change beyond the longest time that the way itself waits. */
const marginMilliseconds = 30_000;
/** Nor that anything is under way that costs the machine something. */
const restMilliseconds = 10_000;
/** However much changes, a rollout ends some day. */
const longestMilliseconds = 20 * 60_000;
const lookMilliseconds = 250;
/** Between the starts of concurrent rollouts: in step, all of them would need the machine at once. */
const apartMilliseconds = 800;

/** Where rollouts are measured, and how many at a time. */
export interface Bench {
  readonly demo: BenchStage;
  readonly clusters: LiveClusters;
  /** How many clusters are created concurrently. */
  readonly preparing: Turns;
  /** The next one of the concurrent rollouts, some time after the previous one. */
  readonly starting: Turns;
  /** Concurrent rollouts, each weighted by its restarts per second. */
  readonly rolling: Turns;
  /** Aborted when it is over before its time: nothing is begun any more. */
  readonly signal: AbortSignal;
}

/** A cluster of its own for a rollout: one that gets revision after revision within minutes is held, and rightly so. */
export function prepare({ demo, clusters, preparing, signal }: Bench, cell: Cell): Promise<BenchCluster> {
  const { way, scenario, members, restartSeconds, minReadySeconds, namespace } = cell;
  const options = { namespace, members, way, minReadySeconds, spec: scenario.spec ?? {} };
  return preparing.take(1, async () => {
    signal.throwIfAborted();
    const cluster = await BenchCluster.create(demo, clusters, options);
    await scenario.before?.(cluster);
    cluster.restartsTake(restartSeconds * 1000);
    return cluster;
  });
}

export function runCell(bench: Bench, cell: Cell, cluster: BenchCluster): Promise<Result> {
  const { demo, starting, rolling, signal } = bench;
  return rolling.take(restartsASecond(cell), async (rest) => {
    try {
      signal.throwIfAborted();
      await starting.take(1, () => cluster.pass(apartMilliseconds));
      return await rollOut(demo, cluster, cell, rest);
    } finally {
      cluster.stop();
      // A waiting one would retry its image again and again, beside the next measurement.
      cluster.imagePullsTake(longestMilliseconds);
    }
  });
}

/** @param rest called once nothing goes on any more, whatever comes of that */
async function rollOut(demo: BenchStage, cluster: BenchCluster, cell: Cell, rest: () => void): Promise<Result> {
  const { scenario, way, minReadySeconds, namespace } = cell;
  const { moco, world } = demo.stage;
  const outage = new Outage(moco, namespace, clusterName, () => world.monotonic());
  let observation = beginObservation(cluster.sight);
  const unsubscribe = cluster.onSight((sight) => {
    observation = observed(observation, sight);
  });
  try {
    await scenario.first?.(cluster);
    const revision = cluster.sight.updateRevision;
    observation = restarted(observation, world.monotonic());
    const meanwhile = scenario.meanwhile?.(cluster).catch(() => null) ?? null;
    await cluster.setImage(newImage);
    let stuck: string | null = null;
    while (stuck === null && !isOver(observation, revision)) {
      await cluster.pass(lookMilliseconds);
      const now = world.monotonic();
      if (now - observation.changedAt > restMilliseconds + (cell.restartSeconds + way.waitsSeconds) * 1000) rest();
      stuck = waitsForEver(observation, now, cell) ? inWords(observation.sight) : null;
    }
    const { measure, wholeSince, moves, mostUnavailable, settlings } = observation;
    const withoutCommits = outage.end();
    const backup = await meanwhile;
    if (meanwhile !== null && backup === null && stuck === null) {
      throw new Error(`Expected a backup in the middle of ${namespace}, it came to nothing`);
    }
    if (stuck === null) {
      rest();
      await cluster.untilAtRest();
    }
    const waits = minReadySeconds > 0 || meanwhile !== null;
    const judged = way.slug === judgedWay && stuck === null;
    return {
      rollout: stuck === null && wholeSince !== null ? wholeSince - measure.beganMilliseconds : null,
      stuck,
      limit: judged ? limitOf(measure, minReadySeconds, backup) : null,
      gaps: judged && !waits ? gapsOf(measure, settlings) : null,
      withoutCommits,
      moves,
      mostUnavailable,
      measure,
      duringBackup: backup === null ? 0 : goneIn(backup, observation),
    };
  } finally {
    unsubscribe();
  }
}

function isOver({ sight, measure: { absences, switchovers } }: Observation, revision: string): boolean {
  return (
    isDone(sight, revision) && [...absences, ...switchovers].every(({ toMilliseconds }) => toMilliseconds !== null)
  );
}

/** Nothing has changed for longer than anything here waits. */
function waitsForEver({ sight, changedAt, measure }: Observation, now: number, { way, restartSeconds }: Cell): boolean {
  const { usually, withoutPrimary } = way.longestWaitSeconds;
  const primary = sight.members.find(({ ordinal }) => ordinal === sight.primary);
  const works = primary?.state === 'participating' || primary?.state === 'impaired';
  const patience = ((works ? usually : withoutPrimary) + restartSeconds) * 1000 + marginMilliseconds;
  return now - changedAt > patience || now - measure.beganMilliseconds > longestMilliseconds;
}

function goneIn({ from, to }: Interval, { measure }: Observation): number {
  return measure.absences.filter(({ fromMilliseconds: at }) => at > from && at < to).length;
}
