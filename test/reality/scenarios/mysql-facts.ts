import { setTimeout as delay } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { leaveUncommitted } from '../load/table.ts';
import { primaryMoves, replicasAreBack } from './moments.ts';
import type { Program } from './program.ts';
import type { RealityCluster } from './reality-cluster.ts';
import { type Scenario, usual } from './scenario.ts';

const gate = '--feature-gates=UpdateStrategyOnDelete=true,ReplicationFacts=true';
const rights = fileURLToPath(new URL('../../../config/replication-facts', import.meta.url));
const longMilliseconds = 30_000;
const anyGaps = { most: Number.POSITIVE_INFINITY, longestMilliseconds: Number.POSITIVE_INFINITY };

/** As an installation does that gives the Secret away. */
async function letsAsk({ bed, namespace }: RealityCluster, program: Program): Promise<void> {
  await bed.controlPlane.kubectl('apply', '-k', rights, '--namespace', namespace);
  await program.restartWith([gate]);
}

/** A transaction is open for half a minute from the moment that the primary alone is left. Resolves to whether it was committed. */
async function writesForLong(cluster: RealityCluster): Promise<boolean> {
  await replicasAreBack(cluster);
  const { primary } = cluster.sight;
  const session = await cluster.session(primary, 'moco-writable');
  try {
    await leaveUncommitted(session, [-1, 1]);
    cluster.note(`opens a transaction on member ${primary}`);
    await delay(longMilliseconds);
    await session.run('COMMIT');
    cluster.note('has committed it');
    return true;
  } catch (error) {
    cluster.note(`could not commit it: ${String(error)}`);
    return false;
  } finally {
    session.close();
    await primaryMoves(cluster, primary);
  }
}

/** MySQL itself is asked, with the feature gate ReplicationFacts. */
export const mysqlFacts: readonly Scenario[] = [
  {
    ...usual,
    slug: 'asked',
    title: 'MySQL itself is asked',
    before: letsAsk,
    // The program starts anew.
    isAlone: true,
  },
  {
    ...usual,
    slug: 'long-write',
    title: 'a transaction of 30 s is open before the switchover, and nobody asks',
    expectations: { ...usual.expectations, gaps: anyGaps },
    meanwhile: async (cluster) => {
      await writesForLong(cluster);
    },
  },
  {
    ...usual,
    slug: 'long-write-asked',
    title: 'a transaction of 30 s is open before the switchover, and MySQL itself is asked',
    before: letsAsk,
    meanwhile: async (cluster) => {
      if (!(await writesForLong(cluster))) throw new Error('Expected the transaction to be committed, it was cut off');
    },
    isAlone: true,
  },
];
