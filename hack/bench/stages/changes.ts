import { getHeapStatistics } from 'node:v8';
import type { SequenceSpec } from '../../../src/api/rollout-sequence.ts';
import { type FleetCluster, StagedFleet } from '../../../test/verification/fleet/staged-fleet.ts';
import { collectGarbage, type Operation } from '../isolation/operation.ts';

export const clusters = 1000;
const canaries = 10;
const times = 200;

const tier = (name: string) => ({ matchLabels: { tier: name } });
const spec: SequenceSpec = {
  settleDuration: 0,
  stages: [
    { name: 'canary', selector: tier('canary') },
    { name: 'most', selector: tier('most'), maxConcurrent: '10%' },
    { name: 'rest', maxConcurrent: '25%' },
  ],
};

/** The canaries are complete. As many of the second stage roll as may, and everybody else waits. */
function fleetInMidRollout(): StagedFleet {
  const fleet = new StagedFleet();
  for (let index = 0; index < clusters; index += 1) {
    fleet.add(`db/${index}`, { tier: index < canaries ? 'canary' : index % 2 === 0 ? 'most' : 'rest' });
  }
  for (const cluster of [...fleet.clusters.values()].slice(canaries)) {
    cluster.revision = '1';
    fleet.changed(cluster);
    fleet.pass(cluster);
  }
  fleet.sequence('production', spec);
  for (const cluster of fleet.clusters.values()) if (fleet.pass(cluster)) fleet.begin(cluster);
  fleet.awake.clear();
  return fleet;
}

/** Those whom a change has woken ask what they wait for. What follows from that are changes of their own. */
function decide(fleet: StagedFleet): void {
  for (const key of fleet.awake) {
    const cluster = fleet.clusters.get(key);
    if (cluster !== undefined) fleet.waits(cluster);
  }
  fleet.awake.clear();
}

/** What changes to and fro, so that it can be done again and again in one fleet. */
function changing(name: string, change: (fleet: StagedFleet, time: number) => void): Operation {
  const fleet = fleetInMidRollout();
  const run = (): void => {
    for (let time = 0; time < times; time += 1) {
      change(fleet, time);
      decide(fleet);
    }
  };
  return { name, times, prepare: () => run };
}

const clusterAt = (fleet: StagedFleet, index: number): FleetCluster => {
  const cluster = fleet.clusters.get(`db/${index}`);
  if (cluster === undefined) throw new Error(`Expected a cluster db/${index}, got none`);
  return cluster;
};

/** A new rollout of it, which is seen at once. */
function restarted(fleet: StagedFleet, cluster: FleetCluster): FleetCluster {
  cluster.revision = cluster.revision === '1' ? '2' : '1';
  fleet.changed(cluster);
  fleet.pass(cluster);
  return cluster;
}

export const changes: readonly Operation[] = [
  changing('a rollout ends or begins', (fleet, time) => {
    const cluster = clusterAt(fleet, canaries);
    if (time % 2 === 0) fleet.end(cluster, 'complete');
    else fleet.begin(restarted(fleet, cluster));
  }),
  changing('a rollout gets on', (fleet) => fleet.changed(clusterAt(fleet, canaries))),
  changing('a template changes', (fleet, time) => {
    const cluster = clusterAt(fleet, canaries + 1 + time);
    cluster.revision = cluster.revision === '1' ? '2' : '1';
    fleet.changed(cluster);
  }),
  changing('a cluster moves to another stage', (fleet, time) => {
    const cluster = clusterAt(fleet, canaries + 1 + time);
    cluster.labels = { tier: cluster.labels['tier'] === 'most' ? 'rest' : 'most' };
    fleet.changed(cluster);
  }),
  changing('the sequence changes', (fleet, time) => {
    fleet.sequence('production', { ...spec, settleDuration: time % 2 });
  }),
];

/** Bytes that a fleet needs more if its clusters are in stages. */
export function keptOfStages(): number {
  const used = (): number => {
    collectGarbage();
    return getHeapStatistics().used_heap_size;
  };
  const before = used();
  const fleet = fleetInMidRollout();
  const staged = used();
  fleet.sequence('production', null);
  return Math.max(0, staged - before - (used() - before));
}
