import { expect } from 'chai';
import { persistentVolumeClaims, persistentVolumes, type ResourceKind } from '../../src/kube/resource.ts';
import { revisionHashLabel } from '../../src/moco/names.ts';
import { dataVolume } from '../support/moco/names.ts';
import type { RolloutCluster } from './rollout-cluster.ts';
import { useRollouts } from './rollout-fixture.ts';

const messageOf = ({ now }: RolloutCluster): string => now.rollout?.status?.hold?.message ?? '';
const claimOf = (cluster: RolloutCluster, ordinal: number): string => `${dataVolume}-${cluster.podName(ordinal)}`;
const claimUid = async (cluster: RolloutCluster, ordinal: number): Promise<string> =>
  cluster.kubectl('get', 'pvc', claimOf(cluster, ordinal), '-o', 'jsonpath={.metadata.uid}');
const everyStep = ['evict 2', 'evict 1', 'demote 0', 'evict 0', 'promoteRevision'];
const resourceQuotas: ResourceKind = {
  group: '',
  version: 'v1',
  plural: 'resourcequotas',
  kind: 'ResourceQuota',
  namespaced: true,
};
const inAnHour = (): string => new Date(Date.now() + 3_600_000).toISOString().replace(/\.\d+/, '');

describe('a member that would not come back as what it was', () => {
  const { scenario } = useRollouts();

  scenario('is not evicted while its claim is being deleted, until a person gives it up', {}, async (cluster) => {
    const before = await claimUid(cluster, 2);
    await cluster.remove(persistentVolumeClaims, claimOf(cluster, 2));
    await cluster.setImage('mysql:8.4.9');
    await cluster.holds('ClaimTerminating');
    expect(messageOf(cluster)).to.contain(`its claim ${claimOf(cluster, 2)} is being deleted`);
    expect((await cluster.event('ClaimTerminating')).type).to.equal('Warning');
    expect(await cluster.steps()).to.deep.equal([]);
    expect(await claimUid(cluster, 2), 'the data are still there').to.equal(before);
    await cluster.setting({
      overrides: [{ rule: 'ClaimTerminating', until: inAnHour(), reason: 'it is cloned anew' }],
    });
    await cluster.completes();
    expect(await cluster.steps()).to.deep.equal(everyStep);
    expect(await claimUid(cluster, 2), 'the end of the pod has freed the claim').not.to.equal(before);
  });

  /** The others may have rollouts as well. The replica of the highest ordinal goes first in any case. */
  scenario('is not evicted from a cordoned node that its volume ties it to', {}, async (cluster) => {
    const node = await cluster.kubectl('get', 'pod', cluster.podName(2), '-o', 'jsonpath={.spec.nodeName}');
    const volume = await cluster.kubectl('get', 'pvc', claimOf(cluster, 2), '-o', 'jsonpath={.spec.volumeName}');
    await cluster.kubectl('label', 'node', node, `kubernetes.io/hostname=${node}`, '--overwrite');
    await cluster.kubectl('cordon', node);
    const inItsNode = { key: 'kubernetes.io/hostname', operator: 'In', values: [node] };
    await cluster.makeUnscoped(persistentVolumes, {
      metadata: { name: volume },
      spec: {
        capacity: { storage: '1Gi' },
        accessModes: ['ReadWriteOnce'],
        storageClassName: 'local',
        local: { path: '/data' },
        nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions: [inItsNode] }] } },
      },
    });
    await cluster.setImage('mysql:8.4.9');
    await cluster.until('the other replica is updated', ({ pods: members, statefulSet }) =>
      members.some(
        ({ metadata }) =>
          metadata.name === cluster.podName(1) &&
          metadata.labels?.[revisionHashLabel] === statefulSet?.status?.updateRevision,
      ),
    );
    await cluster.holds('NodeTakesNoPods');
    expect(messageOf(cluster)).to.equal(
      `another pod of ${cluster.podName(2)} would stay Pending: its node ${node} is cordoned, and ` +
        `the volume ${volume} allows no other node that takes pods`,
    );
    expect(await cluster.steps()).to.deep.equal(['evict 1']);
    await cluster.kubectl('uncordon', node);
    await cluster.completes();
    expect(await cluster.steps()).to.deep.equal(['evict 1', 'evict 2', 'demote 0', 'evict 0', 'promoteRevision']);
  });

  scenario('is not evicted while a quota has no room for its next pod', {}, async (cluster) => {
    const quota = { apiVersion: 'v1', kind: 'ResourceQuota', metadata: { name: 'small' } };
    await cluster.make(resourceQuotas, { ...quota, spec: { hard: { pods: '3', 'requests.cpu': '1' } } });
    // Its pods have no requests of CPU, which the quota asks of each pod.
    await cluster.setImage('mysql:8.4.9');
    await cluster.holds('SuccessorRefused');
    expect(messageOf(cluster)).to.contain(cluster.podName(2)).and.contain('failed quota: small');
    expect(await cluster.steps()).to.deep.equal([]);
    await cluster.kubectl(
      'patch',
      'resourcequota',
      'small',
      '--type=merge',
      '-p',
      '{"spec":{"hard":{"requests.cpu":null}}}',
    );
    await cluster.completes();
    const steps = await cluster.steps();
    expect(steps, 'a quota that is full has room for each pod that goes').to.deep.equal(everyStep);
  });

  scenario('is not evicted while PodSecurity refuses its next pod', {}, async (cluster) => {
    await cluster.kubectl('label', 'namespace', cluster.namespace, 'pod-security.kubernetes.io/enforce=restricted');
    await cluster.setImage('mysql:8.4.9');
    await cluster.holds('SuccessorRefused');
    expect(messageOf(cluster)).to.contain('violates PodSecurity "restricted:latest"');
    expect(await cluster.steps()).to.deep.equal([]);
    await cluster.kubectl('label', 'namespace', cluster.namespace, 'pod-security.kubernetes.io/enforce-');
    await cluster.completes();
    expect(await cluster.steps()).to.deep.equal(everyStep);
  });
});
