import { expect } from 'chai';
import { pods } from '../../src/kube/resource.ts';
import { hear } from '../verification/witness/hear.ts';
import { LiveFeed } from '../verification/witness/live-feed.ts';
import { scenarioDeadlineMilliseconds, useRollouts } from './rollout-fixture.ts';
import { controllerUser } from './rollout-story.ts';

describe('the witness of a real control plane', function witnessOfReality() {
  this.timeout(scenarioDeadlineMilliseconds);
  const { stage, newCluster } = useRollouts();

  it('accepts and measures a rollout, and objects to the deletion of a healthy member', async () => {
    const cluster = newCluster();
    const feed = await LiveFeed.start(stage().client, cluster.namespace);
    try {
      await cluster.create({});
      await cluster.isTaken();
      const since = Date.now();
      await cluster.setImage('mysql:8.4.9');
      await cluster.completes();
      await stage().client.remove(
        pods,
        { namespace: cluster.namespace, name: cluster.podName(2) },
        {},
        { priority: 'disrupt' },
      );
      await cluster.until('the member that was deleted is terminating', ({ pods: members }) =>
        members.some(({ metadata }) => metadata.deletionTimestamp !== undefined),
      );
      const audit = (await stage().controlPlane.audit()).filter(
        ({ objectRef }) => objectRef?.namespace === cluster.namespace,
      );
      const key = `${cluster.namespace}/${cluster.name}`;
      const witness = hear(feed.changes, audit, controllerUser);
      expect(witness.findings).to.deep.equal([]);
      expect(witness.measures(key, since)).to.include({ disruptions: 3, needless: 0, switchovers: 1 });
      const others = hear(feed.changes, audit, 'stage').findings;
      expect(others.map(({ law }) => law)).to.deep.equal(['I4', 'I5']);
    } finally {
      await feed.stop();
    }
  });
});
