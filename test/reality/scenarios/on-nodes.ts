import { setTimeout as delay } from 'node:timers/promises';
import type { ClusterNode } from '../../support/cluster/node.ts';
import { repairErrant } from './errant.ts';
import { firstIsBack, replicasAreBack } from './moments.ts';
import { isServing, type RealityCluster } from './reality-cluster.ts';
import { failing, type Scenario, usual } from './scenario.ts';

// What only a real node shows. Scenarios share the nodes, so each is alone, and leaves them as they were.

/** Longer than it takes until the node counts as lost (50 s), shorter than until its pods are evicted (300 s). */
const awayMilliseconds = 120_000;
const shortlyMilliseconds = 40_000;

/** A failover, or the Service without an address for as long as the node is away, and the switchover. */
const anyGaps = { most: 6, longestMilliseconds: awayMilliseconds + 60_000 };
const withoutOrder = { ...failing, order: null };
/** `kubectl drain` does not consider which member is the primary. */
const byADrain = { ...withoutOrder, gaps: anyGaps, mayTakePrimary: true };

type Moment = (cluster: RealityCluster) => Promise<void>;
type Which = 'replica' | 'primary';

/** Of a member that is still to come; the primary is the last one. */
function memberOf({ sight }: RealityCluster, which: Which): number {
  return which === 'primary' ? sight.primary : 1;
}

interface Trouble {
  readonly slug: string;
  readonly title: string;
  readonly at?: Moment;
  readonly of: Which;
  /** Resolves to what ends it. */
  readonly begin: (node: ClusterNode, cluster: RealityCluster) => Promise<() => Promise<void>>;
  readonly milliseconds: number;
  readonly expectations?: Partial<Scenario['expectations']>;
}

function troubled({ slug, title, at = firstIsBack, of, begin, milliseconds, expectations }: Trouble): Scenario {
  return {
    ...usual,
    slug,
    title,
    expectations: { ...withoutOrder, gaps: anyGaps, ...expectations },
    meanwhile: async (cluster) => {
      await at(cluster);
      const ordinal = memberOf(cluster, of);
      const node = cluster.nodeOf(ordinal);
      cluster.note(`${slug} of ${node.name}, which has member ${ordinal}, begins`);
      const end = await begin(node, cluster);
      await delay(milliseconds);
      await end();
      cluster.note(`${slug} of ${node.name} has ended`);
      await repairErrant(cluster);
    },
    isAlone: true,
  };
}

const losePower: Trouble['begin'] = async (node) => {
  await node.powerOff();
  return () => node.start();
};

const stopKubelet: Trouble['begin'] = async (node) => {
  await node.stopKubelet();
  return async () => node.startKubelet();
};

const cutOff: Trouble['begin'] = async (node) => {
  await node.cutOff();
  return () => node.reconnect();
};

const cutOffPods: Trouble['begin'] = async (node) => {
  await node.cutOffPods();
  return () => node.reconnectPods();
};

const cordon: Trouble['begin'] = async (node, { bed }) => {
  await bed.cluster.kubectl('cordon', node.name);
  return async () => void (await bed.cluster.kubectl('uncordon', node.name));
};

/** Whatever it evicts is gone, and can't be elsewhere: its volume is here. */
const drain: Trouble['begin'] = async (node, { bed }) => {
  const flags = ['--ignore-daemonsets', '--delete-emptydir-data', '--force', '--timeout=10m'];
  await bed.cluster.kubectl('drain', node.name, ...flags);
  return async () => void (await bed.cluster.kubectl('uncordon', node.name));
};

const quota: Trouble['begin'] = async (_, { bed, namespace }) => {
  await bed.cluster.kubectl('create', 'quota', 'none', '--namespace', namespace, '--hard=pods=1');
  return async () => void (await bed.cluster.kubectl('delete', 'quota', 'none', '--namespace', namespace));
};

const duringRollouts: readonly Scenario[] = (
  [
    {
      slug: 'power-primary',
      title: 'the primary’s node loses its power in the middle',
      of: 'primary',
      begin: losePower,
    },
    { slug: 'power-replica', title: 'a replica’s node loses its power in the middle', of: 'replica', begin: losePower },
    {
      slug: 'kubelet-primary',
      title: 'the kubelet of the primary stops for two minutes',
      of: 'primary',
      begin: stopKubelet,
    },
    {
      slug: 'kubelet-replica',
      title: 'the kubelet of a replica stops for two minutes',
      of: 'replica',
      begin: stopKubelet,
    },
    { slug: 'cut-primary', title: 'the primary’s node does not reach the API server', of: 'primary', begin: cutOff },
    { slug: 'cut-replica', title: 'a replica’s node does not reach the API server', of: 'replica', begin: cutOff },
    {
      slug: 'pods-cut-primary',
      title: 'no client reaches the pods on the primary’s node, which stay Ready',
      of: 'primary',
      begin: cutOffPods,
    },
    {
      slug: 'pods-cut-replica',
      title: 'no client reaches the pods on a replica’s node, which stay Ready',
      of: 'replica',
      begin: cutOffPods,
    },
    {
      slug: 'drain-replica',
      title: 'the node of a replica is drained in the middle',
      of: 'replica',
      begin: drain,
      expectations: byADrain,
      milliseconds: shortlyMilliseconds,
    },
    {
      slug: 'drain-primary',
      title: 'the node of the primary is drained in the middle',
      of: 'primary',
      begin: drain,
      expectations: byADrain,
      milliseconds: shortlyMilliseconds,
    },
    {
      slug: 'drain-last',
      title: 'the node of the primary is drained when it is next',
      at: replicasAreBack,
      of: 'primary',
      begin: drain,
      expectations: byADrain,
      milliseconds: shortlyMilliseconds,
    },
    { slug: 'cordon', title: 'the node of a replica is cordoned for two minutes', of: 'replica', begin: cordon },
    { slug: 'quota', title: 'a quota leaves no room for two minutes', of: 'replica', begin: quota },
  ] satisfies readonly (Omit<Trouble, 'milliseconds'> & { milliseconds?: number })[]
).map((trouble) => troubled({ milliseconds: awayMilliseconds, ...trouble }));

export const onNodes: readonly Scenario[] = [
  ...duringRollouts,
  {
    ...usual,
    slug: 'drain-before',
    title: 'the rollout begins while the node of a replica is drained',
    expectations: byADrain,
    change: async (cluster) => {
      const end = await drain(cluster.nodeOf(1), cluster);
      cluster.note('the node of member 1 is drained');
      await cluster.setImage(cluster.bed.images.second);
      await delay(shortlyMilliseconds);
      await end();
    },
    isAlone: true,
  },
  {
    ...usual,
    slug: 'drain-after',
    title: 'the node of the primary is drained when the rollout is over',
    expectations: byADrain,
    meanwhile: async (cluster) => {
      await cluster.until('the rollout to end', (sight) => isServing(sight) && sight.complete);
      const { primary } = cluster.sight;
      const end = await drain(cluster.nodeOf(primary), cluster);
      cluster.note(`the node of member ${primary} is drained`);
      await delay(shortlyMilliseconds);
      await end();
    },
    isAlone: true,
  },
];
