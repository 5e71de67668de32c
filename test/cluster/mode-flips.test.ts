import { randomInt } from 'node:crypto';
import { expect } from 'chai';
import { strategyLabel } from '../../src/moco/names.ts';
import type { StageOptions } from '../support/stage/stage.ts';
import type { RolloutCluster } from './rollout-cluster.ts';
import { ownScene, scenarioDeadlineMilliseconds, useRollouts } from './rollout-fixture.ts';
import { imageOf, isReady } from './rollout-judge.ts';

/** MOCO's own order of things, sooner. */
const soon = { notReconciled: 100, notReady: 200, afterStep: 100, available: 1000 };
const scenes: Readonly<Record<string, StageOptions>> = {
  'MOCO lowers partitions': { partition: soon },
  'this program lowers partitions': { partitionDriver: 'own' },
};
const flipsForEach = 5;

/** Set to play the same moments again: `FLIP_SEED=17 make test`. */
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
    const { scenario, stage, newCluster } = useRollouts(ownScene(options, [], (cluster) => cluster.isTaken()));

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

    scenario('never lets an updated member come up at an older revision again', {}, async (cluster) => {
      for (const image of ['mysql:8.4.9', 'mysql:8.4.10']) {
        await cluster.setImage(image);
        await cluster.completes();
      }
      // A member that does not serve keeps the current revision from being moved on.
      cluster.neverSchedule(1);
      await cluster.setImage('mysql:8.4.11');
      await cluster.pod(1, 'is new and waits for a node', (pod) => imageOf(pod) === 'mysql:8.4.11' && !isReady(pod));
      await cluster.setting({ strategy: 'Partition' });
      await cluster.until('it is released', ({ statefulSet }) => {
        return statefulSet !== null && statefulSet.metadata.labels?.[strategyLabel] === undefined;
      });
      const { uid } = (await cluster.pod(2, 'is updated', isReady)).metadata;
      await cluster.kubectl('delete', 'pod', cluster.podName(2));
      const after = await cluster.pod(2, 'is back', (pod) => isReady(pod) && pod.metadata.uid !== uid);
      expect(imageOf(after)).to.equal('mysql:8.4.11');
      cluster.heal(1);
      await cluster.isByPartitions();
    });

    it('is reset for every cluster by a controller with the gate off, and set again with the gate on', async function gate() {
      this.timeout(2 * scenarioDeadlineMilliseconds);
      const clusters = [newCluster(), newCluster()];
      await Promise.all(
        clusters.map(async (cluster) => {
          await cluster.create({});
          await cluster.isTaken();
          await cluster.begin();
          await cluster.setImage('mysql:8.4.9');
          await cluster.passes(15);
        }),
      );
      const restart = async (gate: boolean): Promise<void> => {
        await Promise.all(stage().controllers.map((controller) => controller.stop('SIGTERM')));
        await stage().startController(['--min-ready-seconds=0', `--feature-gates=UpdateStrategyOnDelete=${gate}`]);
      };
      await restart(false);
      await Promise.all(clusters.map((cluster) => cluster.isByPartitions()));
      await restart(true);
      await Promise.all(clusters.map((cluster) => cluster.isTaken()));
      for (const cluster of clusters) {
        expect(cluster.fewestInPlace()).to.be.at.least(2);
        expect(await cluster.violations()).to.deep.equal([]);
      }
    });
  });
}
