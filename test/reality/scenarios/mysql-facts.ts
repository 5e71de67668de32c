import { setTimeout as delay } from 'node:timers/promises';
import { leaveUncommitted, writeMuch } from '../load/table.ts';
import { primaryMoves, replicasAreBack, someoneGoes } from './moments.ts';
import type { RealityCluster } from './reality-cluster.ts';
import { anyGaps, failing, type Scenario, usual } from './scenario.ts';

const longMilliseconds = 30_000;
const slowBytesPerSecond = 3_000_000;
/** More than goes over that link before the replica has stopped. */
const muchTransactions = 250;
const muchBytesEach = 1_000_000;

/** As an installation does that gives the Secret away. */
async function letsAsk({ bed, namespace }: RealityCluster): Promise<void> {
  await bed.configure({ featureGates: { ReplicationFacts: true }, replicationFacts: { namespaces: [namespace] } });
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

/** The first replica that goes is behind a slow link, and lacks much when it is back. */
async function returnsSlowly(cluster: RealityCluster): Promise<void> {
  const { primary } = cluster.sight;
  const session = await cluster.session(primary, 'moco-writable');
  const node = cluster.nodeOf(2);
  try {
    await someoneGoes(cluster);
    cluster.note(`limits the link of member 2 to ${slowBytesPerSecond} bytes a second`);
    await node.limitCable(slowBytesPerSecond);
    await writeMuch(session, muchTransactions, muchBytesEach);
    cluster.note(`has written ${muchTransactions} transactions of ${muchBytesEach} bytes`);
    await primaryMoves(cluster, primary);
  } finally {
    session.close();
    await node.limitCable(null);
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
    title: 'a transaction of 30 s is open before the switchover, and MySQL is not asked',
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
  {
    ...usual,
    slug: 'slow-link',
    title: 'a replica is back behind a slow link, and MySQL is not asked',
    expectations: { ...failing, gaps: anyGaps },
    meanwhile: returnsSlowly,
  },
  {
    ...usual,
    slug: 'slow-link-asked',
    title: 'a replica is back behind a slow link, and MySQL itself is asked',
    before: letsAsk,
    // The hold that waits for it may ask for a person.
    expectations: failing,
    meanwhile: returnsSlowly,
    isAlone: true,
  },
];
