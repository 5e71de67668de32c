import { setTimeout as delay } from 'node:timers/promises';
import { agentContainer } from '../../../src/moco/names.ts';
import { blockApplier } from '../load/table.ts';
import { othersOnlyRun, primaryMoves } from './moments.ts';
import { failing, type Scenario, usual } from './scenario.ts';
import { onDelete, type Way } from './way.ts';

/** The shortest possible grace period, so that it is over while no member serves. */
const hasty: Way = { ...onDelete, settings: { ...onDelete.settings, failoverGraceSeconds: 60 } };
/** A mysqld that its liveness probe has restarted counts as recovering for so long: no agent says that it started. */
const hastier: Way = { ...hasty, settings: { ...hasty.settings, progressDeadlineSeconds: 120 } };
const backlogMilliseconds = 15_000;
const beyondGraceMilliseconds = 90_000;
/** The failover waits for the appliers, and for a probe of the new primary (seen: 25 s after they go on). */
const longestWaitMilliseconds = 240_000;
/** Two failovers: the first one is towards a member whose agent is dead too (seen). */
const longestWithoutAgentsMilliseconds = 540_000;

/** A rollout is due in a cluster whose members run, and of which none serves. */
export const unserved: readonly Scenario[] = [
  {
    ...usual,
    slug: 'waiting-failover',
    title: 'a failover that waits for appliers is left alone',
    way: hasty,
    // MOCO tolerates replicas that are behind.
    spec: { maxDelaySeconds: 0 },
    // Member 1 leads after the failover. Which member is first depends on whether member 0 is back before another one
    // goes down.
    expectations: { ...failing, order: null, gaps: { most: 2, longestMilliseconds: longestWaitMilliseconds } },
    change: async (cluster) => {
      const { primary, members } = cluster.sight;
      const replicas = members.filter(({ ordinal }) => ordinal !== primary);
      const sessions = await Promise.all(replicas.map(({ ordinal }) => cluster.session(ordinal, 'moco-admin')));
      for (const session of sessions) await blockApplier(session);
      cluster.note('the replicas receive and apply nothing');
      await delay(backlogMilliseconds);
      const returnNode = await cluster.loseNode(primary);
      try {
        await othersOnlyRun(cluster, primary);
        await cluster.setImage(cluster.bed.images.second);
        await delay(beyondGraceMilliseconds);
        cluster.note('the replicas apply again');
        for (const session of sessions) session.close();
        await primaryMoves(cluster, primary);
      } finally {
        await returnNode();
      }
    },
  },
  {
    ...usual,
    slug: 'dead-agents',
    title: 'every agent is dead: the primary goes alone, then the replicas',
    way: hastier,
    expectations: {
      ...failing,
      // Whether MOCO fails over while the primary's pod is away decides who is next.
      order: null,
      mayTakePrimary: true,
      gaps: { most: 3, longestMilliseconds: longestWithoutAgentsMilliseconds },
    },
    change: async (cluster) => {
      for (const { ordinal } of cluster.sight.members) await cluster.hold(ordinal, agentContainer);
      await othersOnlyRun(cluster, null);
      await cluster.setImage(cluster.bed.images.second);
    },
  },
];
