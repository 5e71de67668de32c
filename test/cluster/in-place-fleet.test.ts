import { expect } from 'chai';
import { agentContainer, mysqldContainer } from '../../src/moco/names.ts';
import type { Pod } from '../support/nodes/objects.ts';
import { inPlaceFlag, installInPlace, pull } from '../support/stage/in-place.ts';
import type { RolloutCluster } from './rollout-cluster.ts';
import { ownScene, scenarioDeadlineMilliseconds, useRollouts } from './rollout-fixture.ts';

/** `make soak` has more. */
const clusterCount = Number(process.env['CLUSTERS'] ?? 3);
const newAgent = 'example/agent:2';
const slowAgent = 'example/agent:3';
const scene = ownScene({}, [inPlaceFlag], (cluster) => cluster.isTaken());

/** The pods, and the runs of mysqld in them. */
const mysqlds = ({ now }: RolloutCluster): readonly string[] =>
  now.pods
    .map((pod) => pod as unknown as Pod)
    .map(({ metadata, status }) => {
      const mysqld = status?.containerStatuses?.find(({ name }) => name === mysqldContainer);
      return `${metadata.uid} ${mysqld?.containerID} ${mysqld?.restartCount}`;
    })
    .toSorted();

const agents = ({ now }: RolloutCluster): readonly (string | undefined)[] =>
  now.pods.map((pod) => {
    const { spec } = pod as unknown as Pod;
    return spec.containers.find(({ name }) => name === agentContainer)?.image;
  });

describe(`a MOCO upgrade that changes the image of the agent in ${clusterCount} clusters`, function () {
  this.timeout(scenarioDeadlineMilliseconds);
  const { stage, newCluster } = useRollouts(scene);
  const clusters: RolloutCluster[] = [];

  before(async function createAll() {
    this.timeout(scenarioDeadlineMilliseconds);
    await installInPlace(stage());
    clusters.push(...Array.from({ length: clusterCount }, () => newCluster()));
    await Promise.all(
      clusters.map(async (cluster) => {
        cluster.patientFor(scenarioDeadlineMilliseconds);
        await cluster.create({});
        await cluster.isTaken();
        await cluster.setting({ inPlace: { mode: 'Only', primary: 'InPlace' } });
        await cluster.begin();
      }),
    );
  });

  it('deletes no pod, switches over nowhere, and restarts no mysqld', async () => {
    const before = clusters.map(mysqlds);
    await pull(stage(), newAgent);
    await stage().moco.upgradeAgent(newAgent);
    await Promise.all(
      clusters.map(async (cluster) => {
        await cluster.until('every agent is new', () => agents(cluster).every((image) => image === newAgent));
        await cluster.completes();
      }),
    );
    expect(clusters.map(mysqlds)).to.deep.equal(before);
    for (const cluster of clusters) {
      expect(await cluster.steps()).to.deep.equal(['in place 2', 'in place 1', 'in place 0', 'promoteRevision']);
      expect(await cluster.moves()).to.deep.equal([]);
      const ended = await cluster.until('the history has the rollout', ({ rollout }) =>
        rollout?.status?.history?.at(-1),
      );
      expect(ended).to.deep.include({ disruptions: 0, switchovers: 0, updatedInPlace: [0, 1, 2] });
    }
  });

  it('replaces other members once a slow pull has restarted mysqld of the first', async () => {
    const [cluster, ...others] = clusters;
    if (cluster === undefined) throw new Error('Expected a cluster, got none');
    await Promise.all(others.map((other) => other.setting({ paused: true })));
    await cluster.setting({ inPlace: { mode: 'IfPossible' } });
    await cluster.begin();
    cluster.slowNodes({ pullMilliseconds: 2000, livenessPatienceMilliseconds: 500 });
    await pull(stage(), slowAgent);
    await stage().moco.upgradeAgent(slowAgent);
    await cluster.until('every agent is new', () => agents(cluster).every((image) => image === slowAgent));
    await cluster.completes();
    expect(await cluster.steps()).to.deep.equal(['in place 2', 'evict 1', 'demote 0', 'evict 0', 'promoteRevision']);
    const ended = await cluster.until('the history has the rollout', ({ rollout }) =>
      rollout?.status?.history?.findLast(({ updatedInPlace }) => updatedInPlace?.length === 1),
    );
    expect(ended).to.deep.include({ disruptions: 3, switchovers: 1, updatedInPlace: [2] });
    await cluster.event('MysqldRestarted');
  });
});
