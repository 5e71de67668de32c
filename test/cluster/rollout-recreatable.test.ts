import { expect } from 'chai';
import { policyKind } from '../../src/api/rollout-policy.ts';
import { apiVersion } from '../../src/kube/resource.ts';
import { revisionHashLabel } from '../../src/moco/names.ts';
import { dataVolume } from '../support/moco/names.ts';
import { useRollouts } from './rollout-fixture.ts';

describe('a member whose replaced pod could not come back, with a policy', () => {
  const { scenario, stage } = useRollouts();

  /** The others may have rollouts as well. The replica of the highest ordinal goes first in any case. */
  scenario('is not evicted from a cordoned node that its volume ties it to', {}, async (cluster) => {
    await stage().client.create(
      policyKind,
      {},
      {
        apiVersion: apiVersion(policyKind),
        kind: policyKind.kind,
        metadata: { name: cluster.namespace },
        spec: {
          namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': cluster.namespace } },
          settings: { minReadySeconds: 1 },
        },
      },
    );
    const node = await cluster.kubectl('get', 'pod', cluster.podName(2), '-o', 'jsonpath={.spec.nodeName}');
    const volume = await cluster.kubectl(
      'get',
      'pvc',
      `${dataVolume}-${cluster.podName(2)}`,
      '-o',
      'jsonpath={.spec.volumeName}',
    );
    await cluster.kubectl('label', 'node', node, `kubernetes.io/hostname=${node}`, '--overwrite');
    await cluster.kubectl('cordon', node);
    const inItsNode = { key: 'kubernetes.io/hostname', operator: 'In', values: [node] };
    const nodeAffinity = { required: { nodeSelectorTerms: [{ matchExpressions: [inItsNode] }] } };
    await cluster.kubectl('patch', 'pv', volume, '--type=merge', '-p', JSON.stringify({ spec: { nodeAffinity } }));
    await cluster.setImage('mysql:8.4.9');
    await cluster.until('the other replica is updated', ({ pods: members, statefulSet }) =>
      members.some(
        ({ metadata }) =>
          metadata.name === cluster.podName(1) &&
          metadata.labels?.[revisionHashLabel] === statefulSet?.status?.updateRevision,
      ),
    );
    await cluster.holds('NodeTakesNoPods');
    expect(cluster.now.rollout?.status?.hold?.message).to.equal(
      `a new pod of ${cluster.podName(2)} would stay Pending: its node ${node} is cordoned, and ` +
        `the volume ${volume} rules out every other node that accepts pods`,
    );
    expect(await cluster.steps()).to.deep.equal(['evict 1']);
    // Others may need it. That the rollout continues then: test/controller/recreatable.test.ts.
    await cluster.kubectl('uncordon', node);
    await cluster.kubectl('delete', policyKind.plural, cluster.namespace);
  });
});
