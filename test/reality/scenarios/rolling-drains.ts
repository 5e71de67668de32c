import { setTimeout as delay } from 'node:timers/promises';
import { sharedStorageClassName } from '../../support/cluster/volume-steps.ts';
import { sampleCluster } from '../../support/moco/sample.ts';
import { isBack, isSettled } from '../sight/sight.ts';
import type { RealityCluster } from './reality-cluster.ts';
import { failing, type Scenario, usual } from './scenario.ts';
import { onDelete, type Way } from './way.ts';

// A rolling upgrade of nodes with a rollout pending: one node after another is cordoned, drained and put back, and a
// fourth node is free. Volumes follow their members.

/** Tools for upgrades announce a node before they drain it. */
const announcedMilliseconds = 30_000;
const drainFlags = ['--ignore-daemonsets', '--delete-emptydir-data', '--force', '--timeout=10m'];

const [{ volumeClaimTemplates }] = [
  sampleCluster({ name: '', namespace: '', storageClassName: sharedStorageClassName }),
].map(({ spec }) => spec as { readonly volumeClaimTemplates: readonly unknown[] }) as [
  { readonly volumeClaimTemplates: readonly unknown[] },
];

const following: Way = {
  ...onDelete,
  slug: 'node-maintenance',
  title: 'moco-rollout with NodeMaintenance',
  settings: { ...onDelete.settings, nodeMaintenance: 'Evacuate', rolloutsDuringMaintenance: 'Wait' },
};

/** The nodes of these members, one after another. */
const drains =
  (...ordinals: readonly number[]): Scenario['meanwhile'] =>
  async (cluster: RealityCluster) => {
    const { bed } = cluster;
    for (const name of ordinals.map((ordinal) => cluster.nodeOf(ordinal).name)) {
      cluster.note(`${name} is cordoned`);
      await bed.cluster.kubectl('cordon', name);
      await delay(announcedMilliseconds);
      cluster.note(`${name} is drained`);
      await bed.cluster.kubectl('drain', name, ...drainFlags);
      cluster.note(`${name} is empty, and back`);
      await bed.cluster.kubectl('uncordon', name);
      await cluster.until('every member to serve again', (sight) => isSettled(sight) && sight.members.every(isBack));
    }
  };

const common = {
  ...usual,
  spec: { volumeClaimTemplates },
  // MOCO's Healthy and the drains come in any order.
  expectations: { ...failing, order: null, gaps: { most: 8, longestMilliseconds: 60_000 }, mayTakePrimary: true },
  isAlone: true,
} as const;

const followedBy = {
  way: following,
  before: ({ bed }: RealityCluster) => bed.configure({ featureGates: { NodeMaintenance: true } }),
};

export const rollingDrains: readonly Scenario[] = [
  {
    ...common,
    slug: 'rolling-drain',
    title: 'all nodes are drained one after another, and a rollout is pending',
    meanwhile: drains(2, 1, 0),
  },
  {
    ...common,
    ...followedBy,
    slug: 'rolling-drain-followed',
    title: 'the same with NodeMaintenance',
    meanwhile: drains(2, 1, 0),
  },
  {
    ...common,
    slug: 'rolling-drain-primary-first',
    title: 'all nodes are drained, that of the primary first, and a rollout is pending',
    meanwhile: drains(0, 1, 2),
  },
  {
    ...common,
    ...followedBy,
    slug: 'rolling-drain-primary-first-followed',
    title: 'the same with NodeMaintenance, that of the primary first',
    meanwhile: drains(0, 1, 2),
  },
];
