import { expect } from 'chai';
import { type MySQLRollout, rolloutKind } from '../../src/api/rollout.ts';
import type { ResourceKind } from '../../src/kube/resource.ts';
import { mysqldContainer } from '../../src/moco/names.ts';
import { realMocoScene } from '../cluster/real-moco-fixture.ts';
import { judged, scenarioDeadlineMilliseconds, sharedFlags, useRollouts } from '../cluster/rollout-fixture.ts';
import { imageOf, isReady } from '../cluster/rollout-judge.ts';

// Rollouts on a real control plane that wait for minutes.

const wholeRollout = ['evict 2', 'evict 1', 'demote 0', 'evict 0', 'promoteRevision'];
const newImage = 'mysql:8.4.9';
/** Longer than what was once taken for a failing revision. */
const slowPullMilliseconds = 70_000;
const patienceMilliseconds = 120_000;
const limitRanges: ResourceKind = {
  group: '',
  version: 'v1',
  plural: 'limitranges',
  kind: 'LimitRange',
  namespaced: true,
};

describe('a rollout beside moco-controller 0.36 itself', () => {
  const { scenario } = useRollouts(realMocoScene);

  scenario('does not take a slow pull for a failing revision', {}, async (cluster) => {
    cluster.patientFor(patienceMilliseconds);
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

describe('a controller that finds two lagging replicas', function () {
  this.timeout(scenarioDeadlineMilliseconds);
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
