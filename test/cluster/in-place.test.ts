import { expect } from 'chai';
import { mysqldContainer } from '../../src/moco/names.ts';
import type { Pod } from '../support/nodes/objects.ts';
import { installComponent } from '../support/stage/component.ts';
import type { RolloutCluster } from './rollout-cluster.ts';
import { ownScene, useRollouts } from './rollout-fixture.ts';

/** With NodeMaintenance the controller uses its right to watch nodes, and nothing here changes by it. */
const gates = '--feature-gates=UpdateStrategyOnDelete=true,InPlaceUpdate=true,NodeMaintenance=true';
const scene = ownScene({}, [gates], (cluster) => cluster.isTaken());
const sidecar = { name: 'user-sidecar', image: 'example/sidecar:1' };
const mysqld = { name: mysqldContainer, image: 'mysql:8.4.8' };
const inPlace = (more: object = {}) => ({ inPlace: { mode: 'IfPossible' as const, ...more } });

/** With these labels of the user's at pods. */
const template = (labels: object): object => ({
  spec: { podTemplate: { metadata: { labels }, spec: { containers: [mysqld, sidecar] } } },
});

/** The resources of mysqld: one CPU limit, and one request that never changes. */
const withResources = (cpu: string, more: object = {}) => ({
  spec: {
    podTemplate: {
      spec: {
        containers: [
          { ...mysqld, resources: { limits: { cpu, ...more }, requests: { cpu: '500m', ...more } } },
          sidecar,
        ],
      },
    },
  },
});

const uids = ({ now }: RolloutCluster): readonly string[] => now.pods.map(({ metadata }) => metadata.uid).toSorted();
/** The pod as the nodes see it. */
const whole = (pod: unknown): Pod => pod as Pod;
const idsOf = ({ now }: RolloutCluster, container: string): readonly string[] =>
  now.pods
    .flatMap((pod) => whole(pod).status?.containerStatuses ?? [])
    .filter(({ name }) => name === container)
    .map(({ containerID }) => containerID ?? '')
    .toSorted();
const actual = ({ now }: RolloutCluster, container: string): readonly unknown[] =>
  now.pods.map((pod) => whole(pod).status?.containerStatuses?.find(({ name }) => name === container)?.resources);

// What else is updated so, and in which order: test/controller/in-place.test.ts.
describe('updates in place on a real control plane', () => {
  const { scenario, stage } = useRollouts(scene);
  before(() => installComponent(stage(), 'in-place'));

  scenario(
    'change labels without a restart, and Kubernetes and MOCO call the cluster updated',
    template({}),
    async (cluster) => {
      await cluster.setting(inPlace({ metadata: ['team'] }));
      const [pods, ids] = [uids(cluster), idsOf(cluster, mysqldContainer)];
      await cluster.patch(template({ team: 'b' }));
      await cluster.completes();
      expect(uids(cluster)).to.deep.equal(pods);
      expect(idsOf(cluster, mysqldContainer)).to.deep.equal(ids);
      expect(cluster.now.pods.map(({ metadata }) => metadata.labels?.['team'])).to.deep.equal(['b', 'b', 'b']);
      expect(await cluster.steps()).to.deep.equal(['in place 2', 'in place 1', 'in place 0', 'promoteRevision']);
      expect(await cluster.moves()).to.deep.equal([]);
    },
  );

  scenario('give containers other resources while they run, and delete no pod', withResources('1'), async (cluster) => {
    await cluster.setting(inPlace({ mode: 'Only' }));
    const [pods, ids, sidecars] = [uids(cluster), idsOf(cluster, mysqldContainer), idsOf(cluster, 'user-sidecar')];
    await cluster.patch(withResources('2'));
    await cluster.completes();
    expect(uids(cluster)).to.deep.equal(pods);
    expect(idsOf(cluster, mysqldContainer)).to.deep.equal(ids);
    expect(idsOf(cluster, 'user-sidecar')).to.deep.equal(sidecars);
    const resources = { limits: { cpu: '2' }, requests: { cpu: '500m' } };
    expect(actual(cluster, mysqldContainer)).to.deep.equal([resources, resources, resources]);
    expect(await cluster.steps()).to.deep.equal([
      ...[2, 1, 0].flatMap((ordinal) => [`resize ${ordinal}`, `in place ${ordinal}`]),
      'promoteRevision',
    ]);
    expect(await cluster.moves()).to.deep.equal([]);
    const ended = await cluster.until('the history has the rollout', ({ rollout }) =>
      rollout?.status?.history?.findLast(({ updatedInPlace }) => updatedInPlace !== undefined),
    );
    expect(ended).to.deep.include({ disruptions: 0, switchovers: 0, updatedInPlace: [0, 1, 2] });
  });
});
