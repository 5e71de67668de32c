import type { MeasuredProcess } from '../runtime/measured-process.ts';
import { quiet } from '../runtime/watching.ts';
import type { Clusters, FleetCluster } from './clusters.ts';
import { type FleetRollout, noProcess, rollOutFleet } from './fleet-rollout.ts';
import type { Installation, RivalName } from './installation.ts';

// Measures all programs on a fleet of one size.

/** Turns off the controller's additional waits, because the plain loop only waits for Ready. */
const flags = ['--min-ready-seconds=0', '--replica-delay-grace-seconds=0', '--silent-member-grace-seconds=0'];

/** All measurements with one number of clusters. */
export interface MeasuredFleet {
  readonly clusters: number;
  /** The time until new clusters were healthy. It was only measured if clusters were created. */
  readonly creationSeconds: number;
  readonly takeOverSeconds: number;
  /** Empty for a rival that was not measured. */
  readonly rollouts: Readonly<Record<RivalName, readonly FleetRollout[]>>;
}

export interface FleetPlan {
  readonly clusters: number;
  readonly rounds: number;
  /** The programs that are measured in addition to the controller. */
  readonly rivals: readonly RivalName[];
}

export interface Place {
  readonly installation: Installation;
  readonly clusters: Clusters;
}

/**
 * Grows the fleet to this size and rolls it out with the rivals in turn, so that a slow machine affects all of them.
 */
export async function measureFleet(
  place: Place,
  { clusters: count, rounds, rivals }: FleetPlan,
  progress: (what: string) => void,
): Promise<MeasuredFleet> {
  const { clusters } = place;
  const creationSeconds = await secondsOf(() => create(place, count, progress));
  const rollouts: Record<RivalName, FleetRollout[]> = { controller: [], 'plain loop': [], "MOCO's partitions": [] };
  let takeOverSeconds = 0;
  for (let round = 0; round < rounds; round += 1) {
    const { process, seconds } = await start(place, progress);
    takeOverSeconds = round === 0 ? seconds : takeOverSeconds;
    rollouts.controller.push(await rollOutFleet(place, 'controller', process, progress));
    await process.stop();
    if (rivals.includes('plain loop')) rollouts['plain loop'].push(await byPlainLoop(place, progress));
    if (rivals.includes("MOCO's partitions")) rollouts["MOCO's partitions"].push(await byMoco(place, progress));
  }
  return { clusters: clusters.count, creationSeconds, takeOverSeconds, rollouts };
}

async function byPlainLoop(place: Place, progress: (what: string) => void): Promise<FleetRollout> {
  const loop = await place.installation.plainLoop();
  const rollout = await rollOutFleet(place, 'plain loop', loop, progress);
  await loop.stop();
  return rollout;
}

/** Rolls out with MOCO's partitions. Before that, the controller releases every StatefulSet and exits. */
async function byMoco(place: Place, progress: (what: string) => void): Promise<FleetRollout> {
  const { installation, clusters } = place;
  progress('releasing every cluster');
  const releasing = await installation.controller(['--feature-gates=UpdateStrategyOnDelete=false']);
  const isReleased = (cluster: FleetCluster): boolean => clusters.isReleased(cluster) && clusters.isHealthy(cluster);
  await clusters.untilEach(isReleased, 'every cluster to be released');
  await releasing.stop();
  return rollOutFleet(place, "MOCO's partitions", noProcess, progress);
}

async function create({ clusters }: Place, count: number, progress: (what: string) => void): Promise<void> {
  const fresh = count - clusters.count;
  progress(`creating ${fresh} clusters`);
  const creating = clusters.grow(count);
  const every10th = Math.ceil(count / 10);
  const isHealthy = (cluster: FleetCluster): boolean => clusters.isHealthy(cluster);
  const healthy = clusters.untilEach(isHealthy, 'every cluster to be healthy', (_, missing) => {
    if (missing % every10th === 0) progress(`${count - missing} of ${count} are healthy`);
  });
  await Promise.all([creating, healthy]);
}

/** Starts the controller and resolves once it has nothing left to do. */
async function start(
  { installation, clusters }: Place,
  progress: (what: string) => void,
): Promise<{ readonly process: MeasuredProcess; readonly seconds: number }> {
  progress('starting the controller');
  const begun = performance.now();
  const process = await installation.controller(flags);
  await process.logged('Cache is in sync');
  await clusters.untilEach((cluster) => clusters.isComplete(cluster), 'every cluster to be adopted and complete');
  const seconds = (performance.now() - begun) / 1000;
  await quiet(process, 1);
  return { process, seconds };
}

async function secondsOf(work: () => Promise<void>): Promise<number> {
  const begun = performance.now();
  await work();
  return (performance.now() - begun) / 1000;
}
