import { randomInt } from 'node:crypto';
import { expect } from 'chai';
import { strategyLabel } from '../../src/moco/names.ts';
import type { RolloutCluster } from '../cluster/rollout-cluster.ts';
import { ownScene, useRollouts } from '../cluster/rollout-fixture.ts';
import { imageOf } from '../cluster/rollout-members.ts';
import type { StageOptions } from '../support/stage/stage.ts';

/** MOCO's own order of things, sooner. */
const soon = { notReconciled: 100, notReady: 200, afterStep: 100, available: 1000 };
const scenes: Readonly<Record<string, StageOptions>> = {
  'MOCO lowers partitions': { partition: soon },
  'this program lowers partitions': { partitionDriver: 'own' },
};
const flipsForEach = 5;

/** Set to play the same moments again: `FLIP_SEED=17 make soak`. */
const seed = Number(process.env['FLIP_SEED'] ?? randomInt(1_000_000));

/** A small generator of numbers from 0 up to 1, so that a failure's moments can be had again (mulberry32). */
function chance(from: number): () => number {
  let state = from;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The strategy changes on and on at moments that nobody has chosen; there is always something to roll out. */
async function flip(cluster: RolloutCluster, random: () => number): Promise<void> {
  let image = 8;
  for (let flips = 0; flips < flipsForEach; flips += 1) {
    const { rollout } = cluster.now;
    if (rollout?.status?.rollout === undefined) {
      image += 1;
      await cluster.setImage(`mysql:8.4.${image}`);
    }
    await cluster.passes(1 + Math.floor(random() * 40));
    await cluster.setting({ strategy: flips % 2 === 0 ? 'Partition' : 'OnDelete' });
  }
  await cluster.isByPartitions();
}

for (const [sentence, options] of Object.entries(scenes)) {
  describe(`a strategy that changes in the middle of rollouts, if ${sentence} (FLIP_SEED=${seed})`, () => {
    const { scenario } = useRollouts(ownScene(options, [], (cluster) => cluster.isTaken()));

    for (const replicas of [3, 5]) {
      scenario(`loses nothing with ${replicas} members`, { replicas }, async (cluster) => {
        await flip(cluster, chance(seed + replicas));
        const { statefulSet, pods } = cluster.now;
        expect(statefulSet?.metadata.labels).not.to.have.property(strategyLabel);
        expect(new Set(pods.map(imageOf)).size).to.equal(1);
        expect(cluster.fewestInPlace()).to.be.at.least(replicas - 1);
        expect(await cluster.steps()).to.include('release');
      });
    }
  });
}
