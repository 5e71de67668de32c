import { expect } from 'chai';
import { mysqldContainer } from '../../src/moco/names.ts';
import type { Pod } from '../support/nodes/objects.ts';
import { inPlaceFlag, installInPlace, pull } from '../support/stage/in-place.ts';
import type { RolloutCluster } from './rollout-cluster.ts';
import { ownScene, useRollouts } from './rollout-fixture.ts';

const scene = ownScene({}, [inPlaceFlag], (cluster) => cluster.isTaken());
const sidecar = (image: string) => ({ name: 'user-sidecar', image });
const mysqld = { name: mysqldContainer, image: 'mysql:8.4.8' };
const inPlace = (more: object = {}) => ({ inPlace: { mode: 'IfPossible' as const, ...more } });

/** A new template: the user's labels of pods and the image of a container of theirs. */
const template = (cluster: RolloutCluster, labels: object, image = 'example/sidecar:1'): Promise<void> =>
  cluster.patch({ spec: { podTemplate: { metadata: { labels }, spec: { containers: [mysqld, sidecar(image)] } } } });
const withSidecar = { spec: { podTemplate: { spec: { containers: [mysqld, sidecar('example/sidecar:1')] } } } };

/** The resources of mysqld: one CPU limit, and one request that never changes. */
const withResources = (cpu: string, more: object = {}) => ({
  spec: {
    podTemplate: {
      spec: {
        containers: [
          { ...mysqld, resources: { limits: { cpu, ...more }, requests: { cpu: '500m', ...more } } },
          sidecar('example/sidecar:1'),
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
const images = ({ now }: RolloutCluster, container: string): readonly (string | undefined)[] =>
  now.pods.map((pod) => whole(pod).spec.containers.find(({ name }) => name === container)?.image);

describe('updates in place on a real control plane', () => {
  const { scenario, stage } = useRollouts(scene);
  before(async () => {
    await installInPlace(stage());
    await pull(stage(), ...['1', '2', '3', 'broken'].map((tag) => `example/sidecar:${tag}`));
  });

  scenario(
    'change labels without a restart, and Kubernetes and MOCO call the cluster updated',
    withSidecar,
    async (cluster) => {
      await cluster.setting(inPlace({ metadata: ['team'] }));
      const [pods, ids] = [uids(cluster), idsOf(cluster, mysqldContainer)];
      await template(cluster, { team: 'b' });
      await cluster.completes();
      expect(uids(cluster)).to.deep.equal(pods);
      expect(idsOf(cluster, mysqldContainer)).to.deep.equal(ids);
      expect(cluster.now.pods.map(({ metadata }) => metadata.labels?.['team'])).to.deep.equal(['b', 'b', 'b']);
      expect(await cluster.steps()).to.deep.equal(['in place 2', 'in place 1', 'in place 0', 'promoteRevision']);
      expect(await cluster.moves()).to.deep.equal([]);
    },
  );

  scenario('restart a sidecar, one member after another, and not mysqld', withSidecar, async (cluster) => {
    await cluster.setting(inPlace({ containers: ['user-sidecar'] }));
    const [pods, ids, sidecars] = [uids(cluster), idsOf(cluster, mysqldContainer), idsOf(cluster, 'user-sidecar')];
    await template(cluster, {}, 'example/sidecar:2');
    await cluster.completes();
    expect(uids(cluster)).to.deep.equal(pods);
    expect(idsOf(cluster, mysqldContainer)).to.deep.equal(ids);
    expect(idsOf(cluster, 'user-sidecar')).not.to.include.oneOf([...sidecars]);
    expect(new Set(images(cluster, 'user-sidecar'))).to.deep.equal(new Set(['example/sidecar:2']));
    expect(await cluster.steps()).to.deep.equal([
      'in place 2',
      'in place 1',
      'demote 0',
      'in place 0',
      'undemote 0',
      'promoteRevision',
    ]);
    const ended = await cluster.until('the history has the rollout', ({ rollout }) =>
      rollout?.status?.history?.findLast(({ updatedInPlace }) => updatedInPlace !== undefined),
    );
    expect(ended).to.deep.include({ disruptions: 0, updatedInPlace: [0, 1, 2] });
  });

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

  // The node has lost it since it last reported its images.
  scenario('stop at an image that cannot be pulled, while every mysqld keeps running', withSidecar, async (cluster) => {
    await cluster.setting(inPlace({ containers: ['user-sidecar'] }));
    cluster.breakContainer(2, 'user-sidecar', 'imagePull');
    const ids = idsOf(cluster, mysqldContainer);
    await template(cluster, {}, 'example/sidecar:broken');
    await cluster.holds('UpdateRevisionFailing');
    expect(await cluster.steps()).to.deep.equal(['in place 2']);
    expect(idsOf(cluster, mysqldContainer)).to.deep.equal(ids);
    cluster.heal(2);
    await template(cluster, {}, 'example/sidecar:3');
    await cluster.completes();
    expect(new Set(images(cluster, 'user-sidecar'))).to.deep.equal(new Set(['example/sidecar:3']));
  });
});
