import { setTimeout as delay } from 'node:timers/promises';
import type { RolloutStatus } from '../../../src/api/rollout-status.ts';
import { blockApplier, leaveUncommitted } from '../load/table.ts';
import { firstIsBack, primaryMoves, replicasAreBack, someoneGoes } from './moments.ts';
import { failing, longestSwitchoverMilliseconds, type Scenario, usual } from './scenario.ts';

/** mysqld restarts at once and MOCO does not fail over, or it does (seen: 10.7 s to 16 s); then the switchover. */
const afterKilledPrimary = { most: 4, longestMilliseconds: 20_000 };
const lagMilliseconds = 45_000;
/** Longer than the restart of the member that has gone when it begins. */
const backupMilliseconds = 75_000;
const badMilliseconds = 5000;
const mostProtectedLagSeconds = 5;

const none = 'none';

/** A member, or its server, is in the way. */
const members: readonly Scenario[] = [
  {
    ...usual,
    slug: 'kill-primary',
    title: 'the primary is killed in the middle',
    expectations: { ...failing, order: null, gaps: afterKilledPrimary },
    meanwhile: async (cluster) => {
      await firstIsBack(cluster);
      await cluster.kill(cluster.sight.primary);
    },
  },
  {
    ...usual,
    slug: 'kill-replica',
    title: 'a replica is killed in the middle',
    expectations: failing,
    meanwhile: async (cluster) => {
      await firstIsBack(cluster);
      await cluster.kill(1);
    },
  },
  {
    ...usual,
    slug: 'reclone',
    title: 'a replica loses its volume in the middle',
    // Whoever empties it deletes its pod.
    expectations: { ...failing, order: [2, 2, 1, 0] },
    meanwhile: async (cluster) => {
      await firstIsBack(cluster);
      await cluster.emptyVolume(2);
    },
  },
  {
    ...usual,
    slug: 'lagging',
    title: 'the next primary is behind',
    meanwhile: async (cluster) => {
      await replicasAreBack(cluster);
      await lag(cluster, 1);
    },
  },
  {
    ...usual,
    slug: 'transaction',
    title: 'a transaction is open during the switchover',
    meanwhile: async (cluster) => {
      await replicasAreBack(cluster);
      const { primary } = cluster.sight;
      const session = await cluster.session(primary, 'moco-writable');
      await leaveUncommitted(session, [-1, 1]);
      cluster.note(`leaves a transaction open on member ${primary}`);
      await primaryMoves(cluster, primary).finally(() => session.close());
    },
  },
  {
    ...usual,
    slug: 'prevent-delete',
    title: 'MOCO protects the primary, a replica is behind',
    spec: { maxDelaySecondsForPodDeletion: mostProtectedLagSeconds },
    meanwhile: async (cluster) => {
      await replicasAreBack(cluster);
      await lag(cluster, 2);
    },
  },
];

/** A person, a backup, or a controller is in the way. */
const surroundings: readonly Scenario[] = [
  {
    ...usual,
    slug: 'bad-image',
    title: 'a bad image, corrected',
    expectations: { ...failing, order: [2, 2, 1, 0] },
    change: async (cluster) => {
      await cluster.setImage(cluster.bed.images.missing);
      await cluster.until('a member to fail', ({ members: all }) => all.some(({ state }) => state === 'down'));
      await delay(badMilliseconds);
      await cluster.setImage(cluster.bed.images.second);
    },
  },
  {
    ...usual,
    slug: 'backup',
    title: 'a backup in the middle',
    spec: { backupPolicyName: 'daily' },
    meanwhile: async (cluster) => {
      await someoneGoes(cluster);
      const end = await cluster.beginBackup();
      await delay(backupMilliseconds);
      await end();
    },
  },
  {
    ...usual,
    slug: 'kill-controller',
    title: 'moco-rollout is killed at each of its intents',
    isAlone: true,
    meanwhile: async (cluster) => {
      const seen = new Set([none]);
      // Each member goes, and the primary is moved away.
      const steps = cluster.sight.members.length + 1;
      while (seen.size <= steps) {
        await cluster.until('an intent of another kind', ({ status }) => !seen.has(stepOf(status)));
        const step = stepOf(cluster.sight.status);
        if (seen.has(step)) continue;
        seen.add(step);
        cluster.note(`kills moco-rollout at its intent to ${step}`);
        await cluster.bed.program.killAndStart();
      }
    },
  },
  {
    ...usual,
    slug: 'restart-moco',
    title: 'moco-controller restarts while moco-rollout is away',
    isAlone: true,
    meanwhile: async (cluster) => {
      const { program, moco } = cluster.bed;
      await firstIsBack(cluster);
      cluster.note('kills both controllers');
      await program.kill();
      await moco.kill();
      await moco.start();
      cluster.note('moco-controller is back');
      await program.start();
      cluster.note('moco-rollout is back');
    },
  },
  {
    ...usual,
    slug: 'volume-growth',
    title: 'volumes grow in the middle',
    meanwhile: async (cluster) => {
      await firstIsBack(cluster);
      await cluster.growVolumes('2Gi');
    },
  },
  {
    ...usual,
    slug: 'release',
    title: 'released in the middle',
    // MOCO's partitions go on.
    expectations: {
      ...usual.expectations,
      gaps: { most: 2, longestMilliseconds: longestSwitchoverMilliseconds },
      mayTakePrimary: true,
    },
    meanwhile: async (cluster) => {
      await firstIsBack(cluster);
      await cluster.release();
    },
  },
];

export const disturbed: readonly Scenario[] = [...members, ...surroundings];

/** The step that is about to be taken, such as `evict moco-test-2`. */
function stepOf(status: RolloutStatus | null): string {
  const { intent } = status ?? {};
  return intent === undefined ? none : `${intent.step} ${intent.pods.map(({ name }) => name).join(', ')}`;
}

async function lag(cluster: Parameters<Scenario['meanwhile']>[0], ordinal: number): Promise<void> {
  const session = await cluster.session(ordinal, 'moco-admin');
  await blockApplier(session);
  cluster.note(`member ${ordinal} receives and applies nothing`);
  await delay(lagMilliseconds);
  session.close();
  cluster.note(`member ${ordinal} applies again`);
}
