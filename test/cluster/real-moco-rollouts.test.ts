import { expect } from 'chai';
import { type MySQLRollout, rolloutKind } from '../../src/api/rollout.ts';
import { mysqldContainer, preventDeleteAnnotation, revisionHashLabel, roleLabel } from '../../src/moco/names.ts';
import type { Pod } from '../support/moco/objects.ts';
import { realMocoScene } from './real-moco-fixture.ts';
import { refuseEvictions } from './refused-evictions.ts';
import type { RolloutCluster } from './rollout-cluster.ts';
import { useRollouts } from './rollout-fixture.ts';
import { conditionOf } from './rollout-history.ts';
import { isReady } from './rollout-judge.ts';

const newImage = 'mysql:8.4.9';
const newerImage = 'mysql:8.4.10';
const wholeRollout = ['evict 2', 'evict 1', 'demote 0', 'evict 0', 'promoteRevision'];
/** MOCO asks three times, 3 s apart, who does not answer. */
const patienceMilliseconds = 240_000;

describe('rollouts with moco-controller 0.36', () => {
  const rollouts = useRollouts(realMocoScene);
  const { stage } = rollouts;
  const scenario: typeof rollouts.scenario = (sentence, options, play) =>
    rollouts.scenario(sentence, options, (cluster) => {
      cluster.patientFor(patienceMilliseconds);
      return play(cluster);
    });

  scenario('begin the rollout of a new template at once when it comes during a demotion', {}, async (cluster) => {
    cluster.moco({ switchover: 'failing' });
    await cluster.setImage(newImage);
    await cluster.holds('AwaitingSwitchover');
    await cluster.setImage(newerImage);
    await cluster.until('the demotion is taken back', ({ pods }) =>
      pods.every(({ metadata }) => metadata.annotations?.['moco.cybozu.com/demote'] === undefined),
    );
    cluster.moco({ switchover: 'working' });
    await cluster.completes();
    expect(holdsOf(cluster)).to.not.include('SwitchoverFailing');
  });

  scenario('say who refuses evictions, and go on when nobody does', {}, async (cluster) => {
    const policy = await refuseEvictions(stage(), cluster);
    await cluster.setImage(newImage);
    await cluster.holds('StepRefused');
    const { message } = cluster.now.rollout?.status?.hold ?? {};
    expect(message).to.include(policy.name);
    await cluster.until('RolloutComplete is False', ({ cluster: now }) => {
      const { status, reason } = conditionOf(now, 'moco-rollout.io/RolloutComplete') ?? {};
      return status === 'False' && reason === 'StepRefused';
    });
    expect(await cluster.steps()).to.deep.equal([]);
    await policy.remove();
    await cluster.completes();
    expect(await cluster.steps()).to.deep.equal(wholeRollout);
  });

  scenario(
    'leave a protected replica, which was primary, until MOCO takes the annotation off',
    { spec: { maxDelaySecondsForPodDeletion: 10 } },
    async (cluster) => {
      cluster.moco({ lagSeconds: { 2: 30 } });
      await cluster.pod(0, 'is protected as the primary', isProtected);
      cluster.breakContainer(0, mysqldContainer, 'dead');
      await cluster.until('MOCO fails over', ({ cluster: now }) => now?.status?.currentPrimaryIndex === 1);
      cluster.heal(0);
      await cluster.pod(0, 'is a protected replica', (pod) => isReady(pod) && isProtected(pod));
      // A new process of it would have no lag for a moment, and MOCO would take the annotation off.
      await cluster.setting({ pinnedMembers: [{ ordinal: 2, reason: 'it is to stay behind' }] });
      await cluster.begin();
      await cluster.setImage(newImage);
      await cluster.holds('MemberProtected');
      expect(await cluster.steps()).to.deep.equal([]);
      cluster.moco({ lagSeconds: {} });
      await cluster.pod(0, 'is updated and works', (pod) => isUpdated(cluster, pod) && isReady(pod));
      await cluster.setting({ pinnedMembers: null });
      await cluster.completes();
      expect(await cluster.steps()).to.deep.equal(['evict 0', 'evict 2', 'demote 1', 'evict 1', 'promoteRevision']);
    },
  );

  scenario('delete no acknowledging replica for one that never had a role', {}, async (cluster) => {
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

const isProtected = ({ metadata }: Pod): boolean => metadata.annotations?.[preventDeleteAnnotation] === 'true';

const isUpdated = (cluster: RolloutCluster, { metadata }: Pod): boolean =>
  metadata.deletionTimestamp === undefined &&
  metadata.labels?.[revisionHashLabel] === cluster.now.statefulSet?.status?.updateRevision &&
  cluster.now.statefulSet?.status?.updateRevision !== cluster.now.statefulSet?.status?.currentRevision;

/** Every rule that has held it, in order. */
function holdsOf(cluster: RolloutCluster): readonly string[] {
  return cluster
    .versions(rolloutKind)
    .flatMap(([, object]) => (object as unknown as MySQLRollout).status?.hold?.rule ?? []);
}

/** A new pod of this ordinal which MOCO never reaches: it gets no role, and replicates from nobody. */
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
