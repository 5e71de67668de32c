import { expect } from 'chai';
import { podDisruptionBudgets, type ResourceKind } from '../../src/kube/resource.ts';
import { clusterLabels } from '../support/moco/names.ts';
import { useRollouts } from './rollout-fixture.ts';

const limitRanges: ResourceKind = {
  group: '',
  version: 'v1',
  plural: 'limitranges',
  kind: 'LimitRange',
  namespaced: true,
};
const wholeRollout = ['evict 2', 'evict 1', 'demote 0', 'evict 0', 'promoteRevision'];

describe('a rollout that is held', () => {
  const { scenario } = useRollouts();

  scenario('waits while a backup runs', { spec: { backupPolicyName: 'daily' } }, async (cluster) => {
    await cluster.startBackup();
    await cluster.setImage('mysql:8.4.9');
    await cluster.holds('BackupRunning');
    await cluster.event('BackupRunning');
    expect(await cluster.steps()).to.deep.equal([]);
    await cluster.endBackup();
    await cluster.completes();
    expect(await cluster.steps()).to.deep.equal(wholeRollout);
  });

  scenario('waits while a second budget selects its pods, which no eviction can pass', {}, async (cluster) => {
    const second = {
      metadata: { name: 'second', namespace: cluster.namespace },
      spec: { minAvailable: 0, selector: { matchLabels: clusterLabels(cluster.name) } },
    };
    await cluster.make(podDisruptionBudgets, second);
    await cluster.setImage('mysql:8.4.9');
    await cluster.holds('BlockedByPDB');
    expect(await cluster.steps()).to.deep.equal([]);
    await cluster.remove(podDisruptionBudgets, 'second');
    await cluster.completes();
    expect(await cluster.steps()).to.deep.equal(wholeRollout);
  });

  scenario('says why Kubernetes can not make a member again', {}, async (cluster) => {
    const range = {
      metadata: { name: 'least', namespace: cluster.namespace },
      spec: { limits: [{ type: 'Container', min: { cpu: '1' } }] },
    };
    await cluster.make(limitRanges, range);
    await cluster.setImage('mysql:8.4.9');
    await cluster.until('the sentence is seen', ({ rollout }) => {
      const { rule, message = '' } = rollout?.status?.hold ?? {};
      return rule === 'MemberMissing' && message.includes('minimum cpu usage per Container is 1');
    });
    await cluster.event('MemberMissing');
    await cluster.remove(limitRanges, 'least');
    await cluster.completes();
    expect(await cluster.steps()).to.deep.equal(wholeRollout);
  });

  scenario('does nothing while it is paused, and goes on when it no longer is', {}, async (cluster) => {
    await cluster.setting({ paused: true });
    await cluster.setImage('mysql:8.4.9');
    await cluster.holds('Paused');
    await cluster.until('the change is seen', ({ rollout }) => rollout?.status?.updatedReplicas === 0);
    expect(await cluster.steps()).to.deep.equal([]);
    await cluster.setting({ paused: null });
    await cluster.completes();
    expect(await cluster.steps()).to.deep.equal(wholeRollout);
  });

  scenario('stops at the partition, and goes on when that is lowered', {}, async (cluster) => {
    await cluster.setting({ partition: 1 });
    await cluster.setImage('mysql:8.4.9');
    await cluster.holds('PartitionReached');
    expect(await cluster.steps()).to.deep.equal(['evict 2', 'evict 1']);
    await cluster.setting({ partition: 0 });
    await cluster.completes();
    expect(await cluster.steps()).to.deep.equal(wholeRollout);
  });

  scenario('asks of an updated member that it works for minReadySeconds', {}, async (cluster) => {
    await cluster.setting({ minReadySeconds: 1 });
    await cluster.setImage('mysql:8.4.9');
    await cluster.completes();
    const story = await cluster.story();
    const at = (text: string): number => Date.parse(story.find((deed) => deed.text === text)?.at ?? '');
    expect(at('evict 1') - at('ready 2')).to.be.at.least(1000);
    expect(await cluster.steps()).to.deep.equal(wholeRollout);
  });
});
