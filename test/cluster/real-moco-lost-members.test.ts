import { expect } from 'chai';
import { statefulSets } from '../../src/kube/resource.ts';
import { newPodsAtCurrentRevision, newPodsLabel, revisionHashLabel } from '../../src/moco/names.ts';
import type { Pod, StatefulSet } from '../support/moco/objects.ts';
import { realMocoScene } from './real-moco-fixture.ts';
import type { RolloutCluster } from './rollout-cluster.ts';
import { useRollouts } from './rollout-fixture.ts';
import type { Moment } from './rollout-history.ts';
import { isReady, isUpdated } from './rollout-members.ts';

const newImage = 'mysql:8.4.9';
const badImage = 'mysql:8.4.9-missing';

// A drain and `kubectl delete pod` take members whose rollout is held. MOCO's own partition controller runs all the time.
describe('members whose pods another client deletes, with moco-controller 0.36', () => {
  const rollouts = useRollouts(realMocoScene);
  const scenario: typeof rollouts.scenario = (sentence, options, play) =>
    rollouts.scenario(sentence, options, (cluster) => {
      // MOCO's pods take 20 s to stop, in their preStop hook.
      cluster.slowNodes({ stopMilliseconds: 10_000 });
      return play(cluster);
    });

  scenario('keep their revision while it fails on the first member', {}, async (cluster) => {
    await cluster.setImage(badImage);
    await cluster.holds('UpdateRevisionFailing');
    await restsAtCurrentRevision(cluster);
    await comesBackAsItWas(cluster, 1, deleted);
    expect(cluster.now.pods.filter(isReady)).to.have.length(2);
    await comesBackAsItWas(cluster, 1, forceDeleted);
    await cluster.setImage(newImage);
    await cluster.completes();
    await isAtOnDelete(cluster);
    expect((await cluster.steps()).filter((step) => /delete|evict|demote/.test(step))).to.deep.equal([
      'evict 2',
      'delete 2',
      'evict 1',
      'demote 0',
      'evict 0',
    ]);
  });

  scenario('keep it while the rollout is paused, whatever MOCO’s partition controller writes', {}, async (cluster) => {
    await cluster.setting({ paused: true });
    await cluster.setImage(newImage);
    await cluster.holds('Paused');
    await restsAtCurrentRevision(cluster);
    const known = lowered(cluster.now);
    await cluster.until('MOCO has asked twice for a lower partition', (now) => lowered(now) >= known + 2);
    await comesBackAsItWas(cluster, 2, evicted);
    await comesBackAsItWas(cluster, 1, forceDeleted);
    await comesBackAsItWas(cluster, cluster.now.cluster?.status?.currentPrimaryIndex ?? 0, deleted);
    expect(isUpdatedAll(cluster)).to.deep.equal([]);
    expect(new Set(partitionsAtCurrentRevision(cluster))).to.deep.equal(new Set([3]));
    await cluster.setting({ paused: false });
    await cluster.completes();
    await isAtOnDelete(cluster);
  });

  scenario('get it back if they were created too soon and have not started', {}, async (cluster) => {
    await cluster.setting({ pinnedMembers: [{ ordinal: 1, reason: 'a debugger is attached to it' }] });
    await cluster.setImage(newImage);
    await cluster.holds('PrimaryWaitsForPinned');
    const before = cluster.podNow(1);
    cluster.slowNodes({ initMilliseconds: 30_000 });
    await forceDeleted(cluster, 1);
    await cluster.pod(1, 'is created at the update revision', (pod) => isUpdated(cluster, pod));
    await cluster.until('it is deleted', ({ rollout }) => rollout?.status?.lastStep?.step === 'restore');
    cluster.slowNodes({ initMilliseconds: 100, stopMilliseconds: 1000 });
    const pod = await cluster.pod(1, 'is as it was', (one) => !isUpdated(cluster, one) && isReady(one));
    expect(revisionOf(pod)).to.equal(revisionOf(before));
    expect((await cluster.event('Restored')).note).to.contain('has not started');
    await isAtOnDelete(cluster);
    await cluster.setting({ pinnedMembers: null });
    await cluster.completes();
  });
});

type Taken = (cluster: RolloutCluster, ordinal: number) => Promise<unknown>;
const deleted: Taken = (cluster, ordinal) => cluster.kubectl('delete', 'pod', cluster.podName(ordinal), '--wait=false');
const forceDeleted: Taken = (cluster, ordinal) =>
  cluster.kubectl('delete', 'pod', cluster.podName(ordinal), '--grace-period=0', '--force', '--wait=false');
const evicted: Taken = (cluster, ordinal) => cluster.evict(ordinal);

/** No other pod is created or replaced meanwhile. */
async function comesBackAsItWas(cluster: RolloutCluster, ordinal: number, take: Taken): Promise<void> {
  const before = cluster.now.pods;
  const others = (pods: readonly Pod[]): readonly string[] =>
    pods.filter(({ metadata }) => metadata.name !== cluster.podName(ordinal)).map(({ metadata }) => metadata.uid);
  const revision = revisionOf(cluster.podNow(ordinal));
  const { uid } = cluster.podNow(ordinal).metadata;
  await take(cluster, ordinal);
  const pod = await cluster.pod(ordinal, 'is another pod and works', (one) => one.metadata.uid !== uid && isReady(one));
  expect(revisionOf(pod)).to.equal(revision);
  expect(others(cluster.now.pods)).to.have.members(others(before));
}

const revisionOf = ({ metadata }: Pod): string | undefined => metadata.labels?.[revisionHashLabel];

const isUpdatedAll = (cluster: RolloutCluster): readonly number[] =>
  [0, 1, 2].filter((ordinal) =>
    cluster.now.pods.some((pod) => pod.metadata.name === cluster.podName(ordinal) && isUpdated(cluster, pod)),
  );

const restsAtCurrentRevision = (cluster: RolloutCluster): Promise<unknown> =>
  cluster.until('new pods come up at the current revision', ({ statefulSet }) => {
    const { metadata, spec, status } = statefulSet ?? {};
    return (
      metadata?.labels?.[newPodsLabel] === newPodsAtCurrentRevision &&
      spec?.updateStrategy?.type === 'RollingUpdate' &&
      spec.updateStrategy.rollingUpdate?.partition === spec.replicas &&
      status?.observedGeneration === metadata.generation
    );
  });

/** How often MOCO's partition controller has had a patch carried out that lowers the partition, as it says in its Events. */
const lowered = ({ events }: Moment): number =>
  events
    .filter(({ reason, regarding }) => reason === 'PartitionUpdate' && regarding.kind === statefulSets.kind)
    .reduce((count, event) => count + ((event as { deprecatedCount?: number }).deprecatedCount ?? 1), 0);

const partitionsAtCurrentRevision = (cluster: RolloutCluster): readonly (number | undefined)[] =>
  cluster
    .versions(statefulSets)
    .map(([, object]) => object as StatefulSet)
    .filter(({ metadata }) => metadata.labels?.[newPodsLabel] === newPodsAtCurrentRevision)
    .map(({ spec }) => spec.updateStrategy?.rollingUpdate?.partition);

const isAtOnDelete = (cluster: RolloutCluster): Promise<unknown> =>
  cluster.until('the StatefulSet is at OnDelete', ({ statefulSet }) => {
    const { metadata, spec } = statefulSet ?? {};
    return spec?.updateStrategy?.type === 'OnDelete' && metadata?.labels?.[newPodsLabel] === undefined;
  });
