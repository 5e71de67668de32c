import { expect } from 'chai';
import type { MySQLRollout } from '../../src/controller/rollout-resource.ts';
import { rolloutKind } from '../../src/controller/rollout-resource.ts';
import type { RolloutCluster } from './rollout-cluster.ts';
import { ownScene, type Scene, useRollouts } from './rollout-fixture.ts';

const limit = 3;
const patienceForEachMilliseconds = 30_000;
const deadlineMilliseconds = 45 * 60_000;
const flags = [`--max-concurrent-rollouts=${limit}`];

interface Mode {
  readonly clusters: number;
  readonly scene: Scene;
  /** What is done to each cluster, of one member. */
  readonly steps: readonly string[];
}

const modes: Readonly<Record<string, Mode>> = {
  'under OnDelete': {
    clusters: 40,
    scene: ownScene({}, flags, (cluster) => cluster.isTaken()),
    steps: ['evict 0', 'promoteRevision'],
  },
  'by partitions of this program': {
    clusters: 10,
    scene: ownScene({ partitionDriver: 'own' }, ['--feature-gates=UpdateStrategyOnDelete=false', ...flags], (cluster) =>
      cluster.isByPartitions(),
    ),
    steps: ['setPartition 0'],
  },
};

for (const [mode, { clusters, scene, steps }] of Object.entries(modes)) {
  describe(`a limit of clusters that are rolling at a time, ${mode}`, () => {
    const { newCluster } = useRollouts(scene);

    it(`holds for ${clusters} clusters that all have something to roll out at once`, async function fleet() {
      this.timeout(deadlineMilliseconds);
      const fleetOf = Array.from({ length: clusters }, newCluster);
      for (const cluster of fleetOf) cluster.patientFor((1 + clusters) * patienceForEachMilliseconds);
      await Promise.all(fleetOf.map((cluster) => cluster.create({ replicas: 1 })));
      await Promise.all(fleetOf.map((cluster) => scene.atRest(cluster)));
      await Promise.all(fleetOf.map((cluster) => cluster.begin()));
      await Promise.all(fleetOf.map((cluster) => cluster.setImage('mysql:8.4.9')));
      await Promise.all(fleetOf.map((cluster) => cluster.completes()));
      expect(mostAtOnce(fleetOf)).to.equal(limit);
      for (const cluster of fleetOf) expect(await cluster.steps()).to.deep.equal(steps);
      const waited = fleetOf.filter((cluster) => cluster.versions(rolloutKind).some(([, object]) => isQueued(object)));
      expect(waited.length).to.be.at.least(clusters / limit);
    });
  });
}

describe('a limit of clusters that are rolling at a time, with one that goes offline', () => {
  const scene = ownScene({}, ['--max-concurrent-rollouts=1'], (cluster) => cluster.isTaken());
  const { newCluster } = useRollouts(scene);

  it('lets the next one begin when the first goes offline in the middle of its rollout', async function offline() {
    this.timeout(deadlineMilliseconds);
    const [first, next] = [newCluster(), newCluster()];
    await Promise.all([first.create({ replicas: 3 }), next.create({ replicas: 1 })]);
    await Promise.all([scene.atRest(first), scene.atRest(next)]);
    await Promise.all([first.begin(), next.begin()]);
    first.neverSchedule(2);
    await first.setImage('mysql:8.4.9');
    await first.event('Evicted');
    await next.setImage('mysql:8.4.9');
    await next.holds('AwaitingFleetSlot');
    await first.patch({ spec: { offline: true } });
    await first.holds('Offline');
    await next.completes();
    expect(await next.steps()).to.deep.equal(['evict 0', 'promoteRevision']);
  });
});

const isQueued = (object: unknown): boolean => (object as MySQLRollout).status?.hold?.rule === 'AwaitingFleetSlot';
const isRolling = (object: unknown): boolean => (object as MySQLRollout).status?.rollout?.begunAt !== undefined;

/** How many clusters had a rollout that had begun and not ended, at the worst moment. */
function mostAtOnce(fleet: readonly RolloutCluster[]): number {
  const changes = fleet.flatMap((cluster, index) =>
    cluster.versions(rolloutKind).map(([revision, object]) => ({ revision, index, rolling: isRolling(object) })),
  );
  const rolling = new Set<number>();
  let most = 0;
  for (const { index, rolling: is } of changes.toSorted((a, b) => a.revision - b.revision)) {
    if (is) rolling.add(index);
    else rolling.delete(index);
    most = Math.max(most, rolling.size);
  }
  return most;
}
