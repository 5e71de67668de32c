import { jobs } from '../../../../src/kube/resource.ts';
import type { Finding } from '../../witness/witness.ts';
import type { Circumstances } from '../circumstances.ts';
import { happen } from '../happening.ts';
import { upgradeNodes } from '../node-upgrades.ts';
import { Platform } from '../platform.ts';
import { Simulation } from '../simulation.ts';
import { Figures, type RestartsOfCluster } from './figures.ts';
import { type DayOptions, planDay } from './plan.ts';

// A day of a fleet whose nodes are upgraded one after another, while new revisions begin, backups run and replicas lag.

/** How the program is set up, by what tables call it. */
export const ways = {
  'gate off': 'gate off',
  'Switchover, Proceed': { nodeMaintenance: 'Switchover', rolloutsDuringMaintenance: 'Proceed' },
  'Evacuate, Proceed': { nodeMaintenance: 'Evacuate', rolloutsDuringMaintenance: 'Proceed' },
  'Evacuate, Wait': { nodeMaintenance: 'Evacuate', rolloutsDuringMaintenance: 'Wait' },
} as const satisfies Readonly<Record<string, NonNullable<Circumstances['nodeMaintenance']>>>;

export type Way = keyof typeof ways;

export interface Day {
  readonly way: Way;
  readonly rollouts: number;
  readonly backups: number;
  readonly restarts: number;
  /** Evictions and deletions by drains. */
  readonly drained: number;
  /** Of a member, in one upgrade of the nodes and for one image. */
  readonly second: number;
  /** Of these: the scheduler had put the member on a node whose turn was still to come. */
  readonly placed: number;
  /** Of each cluster of three whose image changes when an upgrade of the nodes begins, in each upgrade. */
  readonly ofThree: readonly RestartsOfCluster[];
  readonly planned: number;
  readonly unplanned: number;
  /** Of these: a backup or a replica that lagged had kept the primary where it was until its drain began. */
  readonly hindered: number;
  /** Away from an updated primary on a node that stayed. */
  readonly needless: number;
  readonly drains: number;
  /** Each node in each upgrade. */
  readonly drainsWanted: number;
  readonly overTimeout: number;
  readonly longestDrainSeconds: number;
  /** In all clusters with several members. */
  readonly secondsWithoutPrimary: number;
  readonly violations: readonly Finding[];
  /** Namespaces of clusters whose rollout has not ended. */
  readonly stuck: readonly string[];
}

const minute = 60_000;
const hour = 60 * minute;
/** Rollouts that have begun late have so long to end. */
const aftermathMilliseconds = 2 * hour;

/** `onHour` is called after each simulated hour. */
export async function playDay(
  way: Way,
  options: DayOptions,
  onHour: (passed: number) => void = () => undefined,
): Promise<Day> {
  const plan = planDay(options, ways[way]);
  const names = Array.from({ length: options.nodes }, (_, number) => `node-${number}`);
  const platform = new Platform(plan.common, { names, emptiestFirst: true });
  const { clock } = platform;
  const clusters = plan.clusters.map(
    ({ circumstances }, number) => new Simulation(circumstances, platform, `db-${number}`),
  );
  await platform.start();
  const figures = new Figures(platform);
  for (const upgrades of plan.upgrades) {
    clock.after(upgrades.atMilliseconds, () => {
      figures.beginRound();
      upgradeNodes(platform, upgrades, () => undefined);
    });
  }
  clusters.forEach((cluster, number) => {
    for (const { atMilliseconds, what } of plan.clusters[number]?.plan ?? []) {
      clock.after(atMilliseconds, () => {
        happen(cluster, what);
        if (what.kind === 'backup' || what.kind === 'lag') figures.hinders(cluster.namespace, what.forMilliseconds);
      });
    }
  });
  for (let passed = 1; passed <= options.hours; passed += 1) {
    await clock.runUntil(() => false, hour);
    onHour(passed);
  }
  const unfinished = () => clusters.filter((cluster) => !cluster.isComplete(cluster.wanted.image));
  for (let waited = 0; waited < aftermathMilliseconds && unfinished().length > 0; waited += minute) {
    await clock.runUntil(() => false, minute);
  }
  platform.end();
  const beside = clusters.filter((_, number) => plan.clusters[number]?.isBeside).map(({ namespace }) => namespace);
  return {
    way,
    rollouts: plan.clusters.flatMap(({ plan: own }) => own.filter(({ what }) => what.kind === 'rollOut')).length,
    backups: platform.server.store.all(jobs).length,
    ...figures.sums,
    drainsWanted: options.nodes * options.rounds,
    ofThree: beside.flatMap((namespace) => plan.upgrades.map((_, round) => figures.restartsIn(namespace, round))),
    violations: platform.witness.findings.filter(({ kind }) => kind === 'violation'),
    stuck: unfinished().map(({ namespace }) => namespace),
  };
}
