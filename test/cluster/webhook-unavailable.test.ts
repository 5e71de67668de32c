import { expect } from 'chai';
import { strategyLabel } from '../../src/moco/names.ts';
import { judged, ownScene, scenarioDeadlineMilliseconds, sharedFlags, useRollouts } from './rollout-fixture.ts';
import { imageOf, isReady } from './rollout-judge.ts';

/** MOCO's own order of things, sooner. */
const soon = { notReconciled: 100, notReady: 200, afterStep: 100, available: 1000 };

describe('a cluster at OnDelete by the webhook of this program, as before Kubernetes 1.36', () => {
  const { stage, newCluster } = useRollouts(
    ownScene({ admission: 'webhook', partition: soon }, [], (cluster) => cluster.isTaken()),
  );

  it('is updated by MOCO’s partition controller while the webhook is unavailable, and adopted again after that', async function unavailable() {
    this.timeout(2 * scenarioDeadlineMilliseconds);
    const cluster = newCluster();
    await judged(cluster, async () => {
      await cluster.create({});
      await cluster.isTaken();
      await cluster.begin();
      await Promise.all(stage().controllers.map((controller) => controller.stop('SIGKILL')));
      await cluster.setImage('mysql:8.4.9');
      await cluster.until('MOCO’s write brings its own strategy, and the label stays', ({ statefulSet }) => {
        return (
          statefulSet?.spec.updateStrategy?.type === 'RollingUpdate' &&
          statefulSet.metadata.labels?.[strategyLabel] === 'OnDelete'
        );
      });
      await cluster.until('MOCO has updated every member', ({ pods }) => {
        return pods.length === 3 && pods.every((pod) => isReady(pod) && imageOf(pod) === 'mysql:8.4.9');
      });
      expect(await cluster.steps()).to.deep.equal([]);
      await stage().startController(sharedFlags);
      await cluster.isTaken();
      await cluster.completes();
      expect(await cluster.steps())
        .to.include('setStrategy')
        .and.not.include('evict 2');
      await cluster.setImage('mysql:8.4.10');
      await cluster.completes();
      expect(await cluster.steps()).to.include('evict 2');
    });
  });
});
