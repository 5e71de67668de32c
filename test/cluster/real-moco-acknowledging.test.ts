import { expect } from 'chai';
import { mysqldContainer, revisionHashLabel, roleLabel } from '../../src/moco/names.ts';
import type { Pod } from '../support/moco/objects.ts';
import { realMocoScene } from './real-moco-fixture.ts';
import type { RolloutCluster } from './rollout-cluster.ts';
import { useRollouts } from './rollout-fixture.ts';
import { isReady } from './rollout-judge.ts';

const patienceMilliseconds = 180_000;

describe('acknowledging replicas with moco-controller 0.36', () => {
  const { scenario } = useRollouts(realMocoScene);

  scenario('no replica that does is deleted for one that never had a role', {}, async (cluster) => {
    cluster.patientFor(patienceMilliseconds);
    // With both replicas unready MOCO calls nothing available, which is waited for this long.
    await cluster.setting({ failoverGraceSeconds: 60 });
    await neverConfigured(cluster, 1);
    // Too far behind to be ready, and it acknowledges.
    cluster.moco({ lagSeconds: { 2: 100 } });
    await cluster.pod(2, 'is behind', (pod) => !isReady(pod));
    await cluster.setImage('mysql:8.4.9');
    await cluster.pod(1, 'is updated and has started', (pod) => isUpdated(cluster, pod) && hasStarted(pod));
    await cluster.holds('UpdatedMemberNotParticipating');
    expect(await cluster.steps()).to.deep.equal(['delete 1']);
    cluster.moco({ unreachable: [], lagSeconds: {} });
    await cluster.completes();
  });
});

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

function isUpdated(cluster: RolloutCluster, { metadata }: Pod): boolean {
  const { updateRevision, currentRevision } = cluster.now.statefulSet?.status ?? {};
  return updateRevision !== currentRevision && metadata.labels?.[revisionHashLabel] === updateRevision;
}
