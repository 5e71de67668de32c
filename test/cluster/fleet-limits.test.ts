import { expect } from 'chai';
import type { MySQLRollout } from '../../src/api/rollout.ts';
import { rolloutKind } from '../../src/api/rollout.ts';
import type { RolloutCluster } from './rollout-cluster.ts';
import { ownScene, useRollouts } from './rollout-fixture.ts';

const clusters = 8;
const limit = 3;
const patienceMilliseconds = 270_000;
const deadlineMilliseconds = 10 * 60_000;

// What takes a slot, and what gives one up: test/controller/observe/fleet.test.ts.
describe('a limit of concurrent rollouts', () => {
  const scene = ownScene({}, [`--max-concurrent-rollouts=${limit}`], (cluster) => cluster.isTaken());
  const { newCluster } = useRollouts(scene);

  it(`is kept for ${clusters} clusters that become due at the same time`, async function fleet() {
    this.timeout(deadlineMilliseconds);
    const fleetOf = Array.from({ length: clusters }, newCluster);
    for (const cluster of fleetOf) cluster.patientFor(patienceMilliseconds);
    await Promise.all(fleetOf.map((cluster) => cluster.create({ replicas: 1 })));
    await Promise.all(fleetOf.map((cluster) => scene.atRest(cluster)));
    await Promise.all(fleetOf.map((cluster) => cluster.begin()));
    await Promise.all(fleetOf.map((cluster) => cluster.setImage('mysql:8.4.9')));
    await Promise.all(fleetOf.map((cluster) => cluster.completes()));
    expect(mostAtOnce(fleetOf)).to.equal(limit);
    for (const cluster of fleetOf) expect(await cluster.steps()).to.deep.equal(['evict 0', 'promoteRevision']);
    const waited = fleetOf.filter((cluster) => cluster.versions(rolloutKind).some(([, object]) => isQueued(object)));
    expect(waited.length).to.be.at.least(clusters / limit);
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
