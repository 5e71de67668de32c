import { expect } from 'chai';
import { changesOf, drawClusters } from '../../../hack/chaos/plan.ts';
import { nameOf, requestNames } from '../../../hack/chaos/point.ts';

describe('the plan of chaos', () => {
  it('is the same for the same seed and another one for another', () => {
    expect(drawClusters('1', 20)).to.deep.equal(drawClusters('1', 20));
    expect(drawClusters('1', 20)).not.to.deep.equal(drawClusters('2', 20));
  });

  it('has as many template changes as are asked for, few enough for each cluster that none is held for them', () => {
    const clusters = drawClusters('1', 100);
    const changes = clusters.map(({ rollouts }) => rollouts.reduce((sum, { task }) => sum + changesOf(task), 0));
    expect(changes.reduce((sum, count) => sum + count, 0)).to.equal(100);
    expect(Math.max(...changes)).to.equal(2);
  });

  it('comes by every point between two requests', () => {
    const points = drawClusters('1', 100).flatMap(({ rollouts }) => rollouts.flatMap((rollout) => rollout.points));
    const met = new Set(points.map(({ request, side }) => `${side} ${request}`));
    expect(met.size).to.equal(requestNames.length * 2);
  });
});

describe('a request of the controller', () => {
  const status = '/apis/moco-rollout.io/v1alpha1/namespaces/n/mysqlrollouts/x/status';
  const pod = '/api/v1/namespaces/n/pods/moco-x-0';
  const annotated = (annotations: object): string => JSON.stringify({ metadata: { annotations } });
  const cases: readonly (readonly [name: string | null, method: string, url: string, body?: string])[] = [
    ['confirm', 'GET', '/apis/apps/v1/namespaces/n/statefulsets/moco-x'],
    ['confirmed', 'GET', '/apis/moco.cybozu.com/v1beta2/namespaces/n/mysqlclusters/x'],
    ['intent', 'PUT', status, JSON.stringify({ status: { intent: { id: '1' } } })],
    ['record', 'PUT', status, JSON.stringify({ status: {} })],
    ['void', 'PATCH', pod, annotated({ 'moco-rollout.io/voided-intent': '1' })],
    ['demote', 'PATCH', pod, annotated({ 'moco.cybozu.com/demote': 'true' })],
    ['undemote', 'PATCH', pod, annotated({ 'moco.cybozu.com/demote': null })],
    ['evict', 'POST', `${pod}/eviction`, '{}'],
    ['delete', 'DELETE', pod, '{}'],
    ['promote', 'PATCH', '/apis/apps/v1/namespaces/n/statefulsets/moco-x/status', '{}'],
    ['condition', 'PUT', '/apis/moco.cybozu.com/v1beta2/namespaces/n/mysqlclusters/x/status', '{}'],
    ['takeOver', 'PATCH', '/apis/apps/v1/namespaces/n/statefulsets/moco-x?dryRun=All', '{}'],
    ['lease', 'PUT', '/apis/coordination.k8s.io/v1/namespaces/n/leases/moco-rollout', '{}'],
    [null, 'GET', '/api/v1/pods?limit=500'],
    [null, 'POST', '/apis/events.k8s.io/v1/namespaces/n/events', '{}'],
  ];
  for (const [name, method, url, body = ''] of cases) {
    it(`${method} ${url.slice(url.lastIndexOf('/n/') + 3)} is ${name ?? 'no part of a step'}`, () => {
      expect(nameOf(method, url, body)).to.deep.equal(name === null ? null : { name, namespace: 'n' });
    });
  }
});
