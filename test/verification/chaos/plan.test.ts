import { expect } from 'chai';
import { type ClusterPlan, changesOf, drawActs } from './plan.ts';
import { nameOf, requestNames } from './point.ts';

const clustersOf = (seed: string, rollouts: number): readonly ClusterPlan[] =>
  drawActs(seed, rollouts).flatMap(({ plans }) => plans);

describe('the plan of chaos', () => {
  it('is the same for the same seed and another one for another', () => {
    expect(drawActs('1', 20)).to.deep.equal(drawActs('1', 20));
    expect(drawActs('1', 20)).not.to.deep.equal(drawActs('2', 20));
  });

  it('has the requested number of template changes, few enough for each cluster not to be held', () => {
    for (const count of [2, 16, 100]) {
      const clusters = clustersOf('1', count);
      const changes = clusters.map(({ rollouts }) => rollouts.reduce((sum, { task }) => sum + changesOf(task), 0));
      expect(changes.reduce((sum, one) => sum + one, 0)).to.equal(count);
      expect(Math.max(...changes)).to.equal(2);
    }
  });

  it('covers every point between two requests', () => {
    const points = clustersOf('1', 100).flatMap(({ rollouts }) => rollouts.flatMap((rollout) => rollout.points));
    const met = new Set(points.map(({ request, side }) => `${side} ${request}`));
    expect(met.size).to.equal(requestNames.length * 2);
  });

  it('combines each strategy with each driver, with and without gate changes, and three and five members', () => {
    const acts = drawActs('1', 100);
    for (const { plans } of acts) {
      expect(new Set(plans.map(({ replicas }) => String(replicas)))).to.have.keys('3', '5');
    }
    for (const driver of ['moco', 'own']) {
      const plans = acts.filter((act) => act.driver === driver).flatMap((act) => act.plans);
      expect(new Set(plans.map(({ strategy }) => strategy)), driver).to.have.keys('OnDelete', 'Partition');
      const tasks = plans.flatMap(({ rollouts }) => rollouts.map(({ task }) => task));
      const flips = tasks.flatMap((task) => (task.kind === 'flip' ? [task.to] : []));
      expect(new Set(flips), driver).to.have.keys('OnDelete', 'Partition');
      expect(
        acts.filter((act) => act.driver === driver).some(({ flipsGate }) => flipsGate),
        driver,
      ).to.equal(true);
    }
  });
});

describe('a request of the controller', () => {
  const status = '/apis/moco-rollout.io/v1alpha1/namespaces/n/mysqlrollouts/x/status';
  const pod = '/api/v1/namespaces/n/pods/moco-x-0';
  const set = '/apis/apps/v1/namespaces/n/statefulsets/moco-x';
  const labelled = (strategy: string | null): string =>
    JSON.stringify({ metadata: { labels: { 'moco-rollout.io/strategy': strategy } } });
  const annotated = (annotations: object): string => JSON.stringify({ metadata: { annotations } });
  const cases: readonly (readonly [name: string | null, method: string, url: string, body?: string])[] = [
    ['confirm', 'GET', '/apis/apps/v1/namespaces/n/statefulsets/moco-x'],
    ['confirmed', 'GET', '/apis/moco.cybozu.com/v1beta2/namespaces/n/mysqlclusters/x'],
    ['intent', 'PUT', status, JSON.stringify({ status: { intent: { id: '1' } } })],
    ['record', 'PUT', status, JSON.stringify({ status: {} })],
    ['void', 'PATCH', pod, annotated({ 'moco-rollout.io/invalidated-intent': '1' })],
    ['demote', 'PATCH', pod, annotated({ 'moco.cybozu.com/demote': 'true' })],
    ['undemote', 'PATCH', pod, annotated({ 'moco.cybozu.com/demote': null })],
    ['evict', 'POST', `${pod}/eviction`, '{}'],
    ['delete', 'DELETE', pod, '{}'],
    ['promote', 'PATCH', '/apis/apps/v1/namespaces/n/statefulsets/moco-x/status', '{}'],
    ['condition', 'PUT', '/apis/moco.cybozu.com/v1beta2/namespaces/n/mysqlclusters/x/status', '{}'],
    ['takeOver', 'PATCH', set, labelled('OnDelete')],
    [
      'takeOver',
      'PATCH',
      set,
      JSON.stringify({ metadata: { labels: { 'moco-rollout.io/new-pods': 'CurrentRevision' } } }),
    ],
    ['release', 'PATCH', `${set}?dryRun=All`, labelled(null)],
    ['setPartition', 'PATCH', set, JSON.stringify({ spec: { updateStrategy: { rollingUpdate: { partition: 2 } } } })],
    ['void', 'PATCH', set, annotated({ 'moco-rollout.io/invalidated-intent': '1' })],
    ['lease', 'PUT', '/apis/coordination.k8s.io/v1/namespaces/n/leases/moco-rollout', '{}'],
    [null, 'GET', '/api/v1/pods?limit=500'],
    [null, 'POST', '/apis/events.k8s.io/v1/namespaces/n/events', '{}'],
  ];
  for (const [name, method, url, body = ''] of cases) {
    it(`${method} ${url.slice(url.lastIndexOf('/n/') + 3)} ${body} is ${name ?? 'no part of a step'}`, () => {
      expect(nameOf(method, url, body)).to.deep.equal(name === null ? null : { name, namespace: 'n' });
    });
  }
});
