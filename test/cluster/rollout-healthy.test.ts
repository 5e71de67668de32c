import { expect } from 'chai';
import { useRollouts } from './rollout-fixture.ts';
import { conditionOf } from './rollout-history.ts';

describe('a rollout of a healthy cluster', () => {
  const { scenario } = useRollouts();

  scenario(
    'replaces 2, then 1, by eviction, moves the primary away from 0 and replaces that, with one switchover',
    {},
    async (cluster) => {
      await cluster.setImage('mysql:8.4.9');
      await cluster.completes();
      expect(await cluster.steps()).to.deep.equal(['evict 2', 'evict 1', 'demote 0', 'evict 0', 'promoteRevision']);
      expect(await cluster.moves()).to.deep.equal(['primary 0 -> 1']);
      expect(conditionOf(cluster.now.cluster, 'StatefulSetReady')?.status).to.equal('True');
      // The condition may come first: what is written to the MySQLRollout is gathered for half a second.
      await cluster.until('the phase says so', ({ rollout }) => rollout?.status?.phase === 'UpToDate');
    },
  );

  scenario('takes the primary last where that is ordinal 1', {}, async (cluster) => {
    await cluster.switchOverTo(1);
    await cluster.begin();
    await cluster.setImage('mysql:8.4.9');
    await cluster.completes();
    expect(await cluster.steps()).to.deep.equal(['evict 2', 'evict 0', 'demote 1', 'evict 1', 'promoteRevision']);
    expect(await cluster.moves()).to.deep.equal(['primary 1 -> 0']);
  });

  scenario('takes the primary last where that is ordinal 2', {}, async (cluster) => {
    await cluster.switchOverTo(2);
    await cluster.begin();
    await cluster.setImage('mysql:8.4.9');
    await cluster.completes();
    expect(await cluster.steps()).to.deep.equal(['evict 1', 'evict 0', 'demote 2', 'evict 2', 'promoteRevision']);
    expect(await cluster.moves()).to.deep.equal(['primary 2 -> 0']);
  });

  scenario('takes five members one at a time, the highest ordinal first', { replicas: 5 }, async (cluster) => {
    await cluster.setImage('mysql:8.4.9');
    await cluster.completes();
    expect(await cluster.steps()).to.deep.equal([
      'evict 4',
      'evict 3',
      'evict 2',
      'evict 1',
      'demote 0',
      'evict 0',
      'promoteRevision',
    ]);
    expect(await cluster.moves()).to.deep.equal(['primary 0 -> 1']);
  });

  scenario('evicts the one member of a cluster of one', { replicas: 1 }, async (cluster) => {
    await cluster.setImage('mysql:8.4.9');
    await cluster.completes();
    expect(await cluster.steps()).to.deep.equal(['evict 0', 'promoteRevision']);
    expect(await cluster.moves()).to.deep.equal([]);
  });

  scenario('tells every step by an Event on the MySQLCluster', {}, async (cluster) => {
    await cluster.setImage('mysql:8.4.9');
    await cluster.completes();
    for (const reason of ['Evicted', 'Demoted', 'RevisionPromoted']) await cluster.event(reason);
    expect(await cluster.moves()).to.have.length(1);
  });
});
