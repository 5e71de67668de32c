import { setTimeout as delay } from 'node:timers/promises';
import { letCommitsGo } from '../load/table.ts';
import { primaryMoves } from './moments.ts';
import { isServing } from './reality-cluster.ts';
import { anyGaps, type Scenario, usual } from './scenario.ts';
import { native, partitions } from './way.ts';

/** Of the rollout's time by that of its restarts, its switchover and minReadySeconds. */
const mostRatio = 1.05;
/** A clone takes a few seconds (seen). */
const blockedMilliseconds = 60_000;

/** Nothing goes wrong, or what a person does is a usual thing to do. */
export const undisturbed: readonly Scenario[] = [
  {
    ...usual,
    slug: 'healthy-3',
    title: 'healthy, 3 members',
    expectations: { ...usual.expectations, mostRatio },
  },
  {
    ...usual,
    slug: 'healthy-5',
    title: 'healthy, 5 members',
    members: 5,
    expectations: { ...usual.expectations, order: [4, 3, 2, 1, 0], mostRatio },
  },
  {
    ...usual,
    slug: 'idle',
    title: 'an idle cluster',
    writers: 0,
    expectations: { ...usual.expectations, mostRatio },
  },
  {
    ...usual,
    slug: 'other-primary',
    title: 'primary at another ordinal',
    expectations: { ...usual.expectations, order: [2, 0, 1], mostRatio },
    before: async (cluster) => {
      await cluster.demote(0);
      await primaryMoves(cluster, 0);
      await cluster.untilAtRest();
    },
  },
  {
    ...usual,
    slug: 'scaling',
    title: 'scaling from 1 to 3 to 5',
    members: 1,
    keepsRevision: true,
    expectations: { ...usual.expectations, order: [], gaps: anyGaps },
    change: async (cluster, load) => {
      // With a write on its way it never ends: the commit waits for a replica, and the replica's clone for the commit.
      cluster.note('sets 3 replicas while nothing writes');
      await load.pause();
      await cluster.patchSpec({ replicas: 3 });
      try {
        await cluster.untilMembers(3);
      } finally {
        await load.resume();
      }
      cluster.note('sets 5 replicas');
      await cluster.patchSpec({ replicas: 5 });
      await cluster.untilMembers(5);
    },
  },
  {
    ...usual,
    slug: 'scaling-loaded',
    title: 'scaling from 1 to 3 under load, with help',
    members: 1,
    keepsRevision: true,
    expectations: { ...usual.expectations, order: [], gaps: anyGaps },
    change: async (cluster) => {
      cluster.note('sets 3 replicas');
      await cluster.patchSpec({ replicas: 3 });
      await cluster.until('three members', ({ members }) => members.length === 3);
      await delay(blockedMilliseconds);
      if (isServing(cluster.sight)) throw new Error('Expected the clone to wait for writes, and writes for the clone');
      cluster.note('has writes not wait for replicas');
      const session = await cluster.session(0, 'moco-admin');
      await letCommitsGo(session).finally(() => session.close());
      await cluster.untilMembers(3);
    },
  },
];

/** The same without this program, for comparison: only lost rows count against them. */
export const others: readonly Scenario[] = [partitions, native].flatMap((way) =>
  [3, 5].map((members) => ({
    ...usual,
    slug: `${way.slug}-${members}`,
    title: `${way.title}, ${members} members`,
    way,
    members,
    expectations: { order: null, gaps: anyGaps, mayTakePrimary: true, isQuiet: false, mostRatio: null },
  })),
);
