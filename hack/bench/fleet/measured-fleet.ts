import type { MeasuredProcess } from '../runtime/measured-process.ts';
import { quiet } from '../runtime/watching.ts';
import type { Clusters } from './clusters.ts';
import { type FleetRollout, noProcess, rollOutFleet } from './fleet-rollout.ts';
import type { Installation, RivalName } from './installation.ts';
import { every } from './wait.ts';

/** The plain loop waits for Ready and for nothing after it. */
const flags = ['--min-ready-seconds=0', '--replica-delay-grace-seconds=0'];

/** All that is measured with one number of clusters. */
export interface MeasuredFleet {
  readonly clusters: number;
  /** From creation to healthy; only if clusters were created. */
  readonly creationSeconds: number;
  readonly takeOverSeconds: number;
  readonly controller: readonly FleetRollout[];
  readonly plainLoop: readonly FleetRollout[];
  readonly moco: readonly FleetRollout[];
}

export interface FleetPlan {
  readonly clusters: number;
  readonly rounds: number;
  /** Beside the controller. */
  readonly rivals: readonly RivalName[];
}

interface Place {
  readonly installation: Installation;
  readonly clusters: Clusters;
}

/** Grows the fleet to so many clusters and rolls it out by every rival in turn, so that a slow machine affects all. */
export async function measureFleet(
  place: Place,
  { clusters: count, rounds, rivals }: FleetPlan,
  progress: (what: string) => void,
): Promise<MeasuredFleet> {
  const { clusters } = place;
  const creationSeconds = await secondsOf(() => create(place, count, progress));
  const controller: FleetRollout[] = [];
  const plainLoop: FleetRollout[] = [];
  const moco: FleetRollout[] = [];
  let takeOverSeconds = 0;
  for (let round = 0; round < rounds; round += 1) {
    const { process, seconds } = await start(place, progress);
    takeOverSeconds = round === 0 ? seconds : takeOverSeconds;
    controller.push(await rollOutFleet(place, 'controller', process, progress));
    await process.stop();
    if (rivals.includes('plain loop')) plainLoop.push(await byPlainLoop(place, progress));
    if (rivals.includes("MOCO's partitions")) moco.push(await byMoco(place, progress));
  }
  return { clusters: clusters.count, creationSeconds, takeOverSeconds, controller, plainLoop, moco };
}

async function byPlainLoop(place: Place, progress: (what: string) => void): Promise<FleetRollout> {
  const loop = await place.installation.plainLoop();
  const rollout = await rollOutFleet(place, 'plain loop', loop, progress);
  await loop.stop();
  return rollout;
}

/** The controller releases every StatefulSet and ends. */
async function byMoco(place: Place, progress: (what: string) => void): Promise<FleetRollout> {
  const { installation, clusters } = place;
  progress('releasing every cluster');
  const releasing = await installation.controller(['--feature-gates=UpdateStrategyOnDelete=false']);
  await every(clusters, clusters.all, (cluster) => clusters.isReleased(cluster) && clusters.isHealthy(cluster), {
    what: 'every cluster to be released',
  });
  await releasing.stop();
  return rollOutFleet(place, "MOCO's partitions", noProcess, progress);
}

async function create({ clusters }: Place, count: number, progress: (what: string) => void): Promise<void> {
  const fresh = count - clusters.count;
  progress(`creating ${fresh} clusters`);
  const creating = clusters.grow(count);
  const every10th = Math.ceil(count / 10);
  const onProgress = (_: unknown, missing: number): void => {
    if (missing % every10th === 0) progress(`${count - missing} of ${count} are healthy`);
  };
  await Promise.all([
    creating,
    every(clusters, clusters.all, (cluster) => clusters.isHealthy(cluster), {
      what: 'every cluster to be healthy',
      onProgress,
    }),
  ]);
}

/** Resolves once it has nothing left to do. */
async function start(
  { installation, clusters }: Place,
  progress: (what: string) => void,
): Promise<{ readonly process: MeasuredProcess; readonly seconds: number }> {
  progress('starting the controller');
  const begun = performance.now();
  const process = await installation.controller(flags);
  await process.logged('the cache is in sync');
  await every(clusters, clusters.all, (cluster) => clusters.isComplete(cluster), {
    what: 'every cluster to be adopted and complete',
  });
  const seconds = (performance.now() - begun) / 1000;
  await quiet(process, 1);
  return { process, seconds };
}

async function secondsOf(work: () => Promise<void>): Promise<number> {
  const begun = performance.now();
  await work();
  return (performance.now() - begun) / 1000;
}
