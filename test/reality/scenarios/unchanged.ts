import { setTimeout as delay } from 'node:timers/promises';
import type { Session } from '../load/session.ts';
import { blockApplier } from '../load/table.ts';
import { primaryIsNotReady, primaryMoves } from './moments.ts';
import type { RealityCluster } from './reality-cluster.ts';
import { type Scenario, usual } from './scenario.ts';

/** A failover takes 7 s to 16 s (seen). */
const longestFailoverMilliseconds = 20_000;
/** MOCO waits up to 50 s for the member that is to lead, then opens writes again. */
const longestTryMilliseconds = 60_000;
/** Then the second try has begun. */
const firstTryMilliseconds = 65_000;
const behindMilliseconds = 2000;

const usualHere = { ...usual, keepsRevision: true };
const withGaps = (most: number, longestMilliseconds: number): Scenario['expectations'] => ({
  ...usual.expectations,
  order: [],
  gaps: { most, longestMilliseconds },
});

/** MOCO is asked to move the primary to member 1, which receives and applies nothing until the session is closed. */
async function demoteTowardsBlocked(cluster: RealityCluster, primary: number): Promise<Session> {
  const session = await cluster.session(1, 'moco-admin');
  await blockApplier(session);
  cluster.note('member 1 receives and applies nothing');
  await delay(behindMilliseconds);
  await cluster.demote(primary);
  return session;
}

/** Nothing is rolled out: what MOCO does by itself. Their histories are those that its stand-in is compared with. */
export const unchanged: readonly Scenario[] = [
  {
    ...usualHere,
    slug: 'failover',
    title: 'the primary stays down until another one leads',
    expectations: withGaps(1, longestFailoverMilliseconds),
    change: async (cluster) => {
      const { primary } = cluster.sight;
      await cluster.hold(primary);
      await primaryMoves(cluster, primary).finally(() => cluster.heal(primary));
    },
  },
  {
    ...usualHere,
    slug: 'restarted-primary',
    title: 'the primary restarts',
    expectations: withGaps(1, longestFailoverMilliseconds),
    change: async (cluster) => {
      const { primary } = cluster.sight;
      await cluster.kill(primary);
      await primaryIsNotReady(cluster);
    },
  },
  {
    ...usualHere,
    slug: 'failing-switchover',
    title: 'a switchover fails at first',
    expectations: withGaps(2, longestTryMilliseconds),
    change: async (cluster) => {
      const { primary } = cluster.sight;
      const session = await demoteTowardsBlocked(cluster, primary);
      await delay(firstTryMilliseconds);
      session.close();
      cluster.note('member 1 applies again');
      await primaryMoves(cluster, primary);
    },
  },
  {
    ...usualHere,
    slug: 'lost-target',
    title: 'a switchover loses its target',
    expectations: withGaps(2, longestTryMilliseconds),
    change: async (cluster) => {
      const { primary } = cluster.sight;
      await demoteTowardsBlocked(cluster, primary);
      await delay(behindMilliseconds);
      await cluster.hold(1);
      await primaryMoves(cluster, primary).finally(() => cluster.heal(1));
    },
  },
];
