import { expect } from 'chai';
import type { ResourceKind } from '../../src/kube/resource.ts';
import { useRollouts } from './rollout-fixture.ts';

const limitRanges: ResourceKind = {
  group: '',
  version: 'v1',
  plural: 'limitranges',
  kind: 'LimitRange',
  namespaced: true,
};

describe('a rollout that is held', () => {
  const { scenario } = useRollouts();

  scenario('says why Kubernetes cannot recreate a member', {}, async (cluster) => {
    const range = {
      metadata: { name: 'least', namespace: cluster.namespace },
      spec: { limits: [{ type: 'Container', min: { cpu: '1' } }] },
    };
    cluster.slowNodes({ stopMilliseconds: 5_000 });
    await cluster.setImage('mysql:8.4.9');
    // Before that a dry run would have shown it, and no member would go.
    await cluster.pod(2, 'is terminating', ({ metadata }) => metadata.deletionTimestamp !== undefined);
    await cluster.make(limitRanges, range);
    await cluster.until('the sentence is seen', ({ rollout }) => {
      const { rule, message = '' } = rollout?.status?.hold ?? {};
      return rule === 'MemberMissing' && message.includes('minimum cpu usage per Container is 1');
    });
    await cluster.event('MemberMissing');
    expect(await cluster.steps()).to.deep.equal(['evict 2']);
  });
});
