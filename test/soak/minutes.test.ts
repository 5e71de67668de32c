import { expect } from 'chai';
import { type MySQLRollout, rolloutKind } from '../../src/api/rollout.ts';
import type { ResourceKind } from '../../src/kube/resource.ts';
import { mysqldContainer, roleLabel } from '../../src/moco/names.ts';
import { realMocoScene } from '../cluster/real-moco-fixture.ts';
import type { RolloutCluster } from '../cluster/rollout-cluster.ts';
import { judged, sharedFlags, useRollouts } from '../cluster/rollout-fixture.ts';
import { conditionOf } from '../cluster/rollout-history.ts';
import { imageOf, isReady, isUpdated } from '../cluster/rollout-members.ts';
import { wholeRollout } from '../cluster/rollout-story.ts';
import type { Pod } from '../support/moco/objects.ts';

// Rollouts on a real control plane that wait for minutes.

const newImage = 'mysql:8.4.9';
/** Longer than what was once taken for a failing revision. */
const slowPullMilliseconds = 70_000;
const limitRanges: ResourceKind = {
  group: '',
  version: 'v1',
  plural: 'limitranges',
  kind: 'LimitRange',
  namespaced: true,
};

describe('a rollout beside moco-controller 0.36 itself', () => {
  const { scenario } = useRollouts(realMocoScene);

  scenario('does not mistake a slow pull for a failing revision', {}, async (cluster) => {
    cluster.slowNodes({ startMilliseconds: slowPullMilliseconds });
    await cluster.setImage(newImage);
    await cluster.event('Evicted');
    cluster.slowNodes({ startMilliseconds: 100 + slowPullMilliseconds });
    await cluster.pod(2, 'is updated and works', (pod) => imageOf(pod) === newImage && isReady(pod));
    cluster.slowNodes({ startMilliseconds: 100 });
    await cluster.completes();
    const holds = cluster
      .versions(rolloutKind)
      .map(([, object]) => (object as unknown as MySQLRollout).status?.hold?.rule);
    expect(holds).to.not.include('UpdateRevisionFailing');
    expect(await cluster.steps()).to.deep.equal(wholeRollout);
  });

  scenario('replaces an impaired primary first, whose Service is gone already', {}, async (cluster) => {
    cluster.breakContainer(0, 'slow-log', 'dead');
    await cluster.until('MOCO calls the cluster neither Available nor Healthy', ({ cluster: now }) => {
      return ['Available', 'Healthy'].every((type) => conditionOf(now, type)?.status === 'False');
    });
    // Else MOCO has three minutes to end what makes it report the cluster so.
    await cluster.setting({ failoverGraceSeconds: 60 });
    await cluster.begin();
    await cluster.setImage(newImage);
    await cluster.completes();
    // Whether MOCO fails over before the new pod of the primary serves again is a race, and nothing depends on it.
    const [first, ...others] = await cluster.steps();
    expect(first).to.equal('delete 0');
    expect(others.filter((step) => step.startsWith('evict'))).to.include.members(['evict 1', 'evict 2']);
  });

  scenario('deletes no acknowledging replica for one that never had a role', {}, async (cluster) => {
    // With both replicas unready MOCO calls nothing available, which is waited for this long.
    await cluster.setting({ failoverGraceSeconds: 60 });
    await neverConfigured(cluster, 1);
    // Too far behind to be ready, and it acknowledges.
    cluster.moco({ lagSeconds: { 2: 100 } });
    await cluster.pod(2, 'is behind', (pod) => !isReady(pod));
    await cluster.setImage(newImage);
    await cluster.pod(1, 'is updated and has started', (pod) => isUpdated(cluster, pod) && hasStarted(pod));
    await cluster.holds('UpdatedMemberNotParticipating');
    expect(await cluster.steps()).to.deep.equal(['delete 1']);
    cluster.moco({ unreachable: [], lagSeconds: {} });
    await cluster.completes();
  });
});

describe('a rollout that is held', () => {
  const { scenario } = useRollouts();

  scenario(
    'deletes no other member, not even one that is down, while Kubernetes cannot create one',
    {},
    async (cluster) => {
      const range = {
        metadata: { name: 'least', namespace: cluster.namespace },
        spec: { limits: [{ type: 'Container', min: { cpu: '1' } }] },
      };
      await cluster.make(limitRanges, range);
      await cluster.setImage('mysql:8.4.9');
      await cluster.holds('MemberMissing');
      cluster.breakContainer(1, mysqldContainer, 'dead');
      await cluster.until('it is seen to be down', ({ rollout }) => rollout?.status?.members?.['1']?.state === 'down');
      await cluster.holds('MemberMissing');
      expect(await cluster.steps()).to.deep.equal(['evict 2']);
      await cluster.remove(limitRanges, 'least');
      await cluster.completes();
      expect(await cluster.steps()).to.deep.equal(['evict 2', 'delete 1', 'demote 0', 'evict 0', 'promoteRevision']);
    },
  );
});

describe('a controller that finds two lagging replicas', () => {
  const { stage, newCluster } = useRollouts();

  before(() => Promise.all(stage().controllers.map((controller) => controller.stop('SIGKILL'))));

  it('replaces them one at a time, once the primary cannot be a new one', async () => {
    const cluster = newCluster();
    await judged(cluster, async () => {
      await cluster.create({ spec: { maxDelaySeconds: 60 } });
      await cluster.backdateReady(0, 600);
      await stage().startController(sharedFlags);
      await cluster.isTaken();
      await cluster.begin();
      cluster.moco({ lagSeconds: { 1: 100, 2: 100 } });
      await cluster.pod(1, 'is behind', (pod) => !isReady(pod));
      await cluster.pod(2, 'is behind', (pod) => !isReady(pod));
      await cluster.setImage('mysql:8.4.9');
      await cluster.pod(2, 'has been replaced', (pod) => imageOf(pod) === 'mysql:8.4.9');
      await cluster.holds('UpdatedMemberNotParticipating');
      expect(await cluster.steps()).to.deep.equal(['delete 2']);
      cluster.moco({ lagSeconds: { 1: 100 } });
      await cluster.pod(1, 'has been replaced', (pod) => imageOf(pod) === 'mysql:8.4.9');
      cluster.moco({ lagSeconds: {} });
      await cluster.completes();
      expect(await cluster.steps()).to.deep.equal(['delete 2', 'delete 1', 'demote 0', 'evict 0', 'promoteRevision']);
    });
  });
});

/** A new pod of this ordinal that MOCO never reaches: it gets no role, and replicates from no member. */
async function neverConfigured(cluster: RolloutCluster, ordinal: number): Promise<void> {
  const { uid } = (await cluster.pod(ordinal, 'is there', () => true)).metadata;
  cluster.moco({ unreachable: [ordinal] });
  await cluster.kubectl('delete', 'pod', cluster.podName(ordinal), '--wait=false');
  await cluster.pod(ordinal, 'is new and has no role', (pod) => {
    return pod.metadata.uid !== uid && pod.metadata.labels?.[roleLabel] === undefined && hasStarted(pod);
  });
  await cluster.begin();
}

function hasStarted({ metadata, status }: Pod): boolean {
  const mysqld = status?.containerStatuses?.find(({ name }) => name === mysqldContainer);
  return metadata.deletionTimestamp === undefined && mysqld?.started === true;
}
