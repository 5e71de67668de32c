import { expect } from 'chai';
import { policyKind } from '../../src/api/rollout-policy.ts';
import { apiVersion } from '../../src/kube/resource.ts';
import { clusterKind } from '../../src/moco/names.ts';
import { realMocoScene, realMocoStartMilliseconds } from './real-moco-fixture.ts';
import type { RolloutCluster } from './rollout-cluster.ts';
import { judged, sharedFlags, useRollouts } from './rollout-fixture.ts';

const newImage = 'mysql:8.4.9';
const testMilliseconds = 420_000;
const patienceMilliseconds = 300_000;
const teams = 3;
/** Of teams without a cluster here: a step must not read them. */
const otherPolicies = 47;

describe('a fleet with moco-controller 0.36', () => {
  const { stage, newCluster } = useRollouts(realMocoScene);

  async function restart(flags: readonly string[]): Promise<void> {
    await Promise.all(stage().controllers.map((controller) => controller.stop()));
    await stage().startController([...sharedFlags, ...flags]);
  }

  async function made(count: number): Promise<readonly RolloutCluster[]> {
    const clusters = Array.from({ length: count }, newCluster);
    for (const cluster of clusters) cluster.patientFor(patienceMilliseconds);
    await Promise.all(clusters.map((cluster) => cluster.create({ replicas: 1 })));
    await Promise.all(clusters.map((cluster) => cluster.isTaken()));
    await Promise.all(clusters.map((cluster) => cluster.begin()));
    return clusters;
  }

  it('rolls out every cluster with one policy for each team, and reads one policy for a step', async function policies() {
    this.timeout(realMocoStartMilliseconds);
    const clusters = await made(teams);
    const names = [
      ...clusters.map(({ namespace }) => namespace),
      ...Array.from({ length: otherPolicies }, (_, team) => `team-without-a-cluster-${team}`),
    ];
    const { client, controlPlane } = stage();
    const before = (await controlPlane.audit()).length;
    for (const name of names) await client.create(policyKind, {}, policyOf(name), { priority: 'disrupt' });
    try {
      await Promise.all(clusters.map((cluster) => cluster.setImage(newImage)));
      await Promise.all(clusters.map((cluster) => judged(cluster, () => cluster.completes())));
    } finally {
      for (const name of names) await client.remove(policyKind, { name }, {}, { priority: 'disrupt' });
    }
    for (const cluster of clusters) {
      expect(await cluster.steps()).to.deep.equal(['evict 0', 'promoteRevision']);
    }
    const reads = (await controlPlane.audit()).slice(before).filter(({ verb }) => verb === 'get');
    const readsOf = (plural: string): number =>
      reads.filter(({ user, objectRef }) => user.username.endsWith(':moco-rollout') && objectRef?.resource === plural)
        .length;
    // A confirmation reads the MySQLCluster once; it is read for RolloutComplete as well.
    expect(readsOf(policyKind.plural)).to.be.within(teams, readsOf(clusterKind.plural));
  });

  it('lets the next rollout begin if a cluster goes offline in the middle of its own', async function offline() {
    this.timeout(testMilliseconds);
    await restart(['--max-concurrent-rollouts=1']);
    try {
      const [first, next] = (await made(2)) as [RolloutCluster, RolloutCluster];
      first.neverSchedule(0);
      await first.setImage(newImage);
      await first.event('Evicted');
      await next.setImage(newImage);
      await next.holds('AwaitingFleetSlot');
      await first.patch({ spec: { offline: true } });
      await first.holds('Offline');
      await next.event('Evicted');
      // moco-controller 0.36 reads annotations of the pods of an offline cluster, which are gone, and panics
      // (clustering/operations.go, removeAnnPreventDelete). A kubelet would start it again.
      await first.remove(clusterKind, first.name);
      await stage().moco.pause();
      await stage().moco.resume();
      await judged(next, () => next.completes());
    } finally {
      await restart([]);
    }
  });
});

function policyOf(team: string): object {
  return {
    apiVersion: apiVersion(policyKind),
    kind: policyKind.kind,
    metadata: { name: team },
    spec: {
      namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': team } },
      settings: { progressDeadlineSeconds: 900 },
    },
  };
}
