import type { MeasuredProcess } from '../runtime/measured-process.ts';
import { quiet } from '../runtime/watching.ts';
import type { Clusters } from './clusters.ts';
import { type FleetRollout, rollOutFleet } from './fleet-rollout.ts';
import type { Installation } from './installation.ts';
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
}

export interface FleetPlan {
  readonly clusters: number;
  readonly rounds: number;
}

interface Place {
  readonly installation: Installation;
  readonly clusters: Clusters;
}

/** Grows the fleet to so many clusters and rolls it out by both rivals in turn. */
export async function measureFleet(
  place: Place,
  plan: FleetPlan,
  progress: (what: string) => void,
): Promise<MeasuredFleet> {
  const { clusters } = place;
  const creationSeconds = await secondsOf(() => create(place, plan.clusters, progress));
  const rollouts: { readonly controller: FleetRollout[]; readonly plainLoop: FleetRollout[] } = {
    controller: [],
    plainLoop: [],
  };
  let running = await start(place, progress);
  const takeOverSeconds = running.seconds;
  const byController = async (): Promise<void> => {
    rollouts.controller.push(await rollOutFleet(place, 'controller', running.process, progress));
  };
  const byPlainLoop = async (times: number): Promise<void> => {
    await running.process.stop();
    const loop = await place.installation.plainLoop();
    for (let time = 0; time < times; time += 1) {
      rollouts.plainLoop.push(await rollOutFleet(place, 'plain loop', loop, progress));
    }
    await loop.stop();
  };
  await byController();
  // The programs alternate, so that a slow machine affects both; two runs in a row need one start.
  await byPlainLoop(plan.rounds > 1 ? 2 : 1);
  for (let round = 2; round <= plan.rounds; round += 2) {
    running = await start(place, progress);
    await byController();
    if (round === plan.rounds) {
      await running.process.stop();
      break;
    }
    await byController();
    await byPlainLoop(Math.min(2, plan.rounds - round));
  }
  return { clusters: clusters.count, creationSeconds, takeOverSeconds, ...rollouts };
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
