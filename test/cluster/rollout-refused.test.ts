import { setTimeout as pause } from 'node:timers/promises';
import { expect } from 'chai';
import { isForbidden } from '../../src/kube/api-error.ts';
import { path, pods, type ResourceKind } from '../../src/kube/resource.ts';
import { rolloutCompleteCondition } from '../../src/moco/names.ts';
import { useRollouts } from './rollout-fixture.ts';
import { conditionOf } from './rollout-history.ts';

const admission = { group: 'admissionregistration.k8s.io', version: 'v1', namespaced: false };
const policies: ResourceKind = {
  ...admission,
  plural: 'validatingadmissionpolicies',
  kind: 'ValidatingAdmissionPolicy',
};
const bindings: ResourceKind = {
  ...admission,
  plural: 'validatingadmissionpolicybindings',
  kind: 'ValidatingAdmissionPolicyBinding',
};
const sentence = 'no evictions on a Friday';

describe('a rollout whose evictions an admission policy refuses', () => {
  const { scenario, stage } = useRollouts();

  scenario('is held by StepRefused in the words of the policy, and goes on without it', {}, async (cluster) => {
    const { client } = stage();
    const name = cluster.namespace;
    const lane = { lane: 'disrupt' } as const;
    await client.create(
      policies,
      {},
      {
        metadata: { name },
        spec: {
          failurePolicy: 'Fail',
          matchConstraints: {
            namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': name } },
            resourceRules: [
              { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods/eviction'] },
            ],
          },
          validations: [{ expression: 'false', message: sentence, reason: 'Forbidden' }],
        },
      },
      lane,
    );
    const binding = { metadata: { name }, spec: { policyName: name, validationActions: ['Deny'] } };
    await client.create(bindings, {}, binding, lane);
    const isInForce = (): Promise<boolean> =>
      client
        .call({
          ...lane,
          method: 'POST',
          path: path(pods, { namespace: name, name: cluster.podName(2), subresource: 'eviction' }),
          query: { dryRun: 'All' },
          body: { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name: cluster.podName(2), namespace: name } },
        })
        .then(() => false, isForbidden);
    while (!(await isInForce())) await pause(100);
    await cluster.setImage('mysql:8.4.9');
    await cluster.until('the refusal is told', ({ rollout, cluster: mysqlCluster }) => {
      const { rule, message = '' } = rollout?.status?.hold ?? {};
      const complete = conditionOf(mysqlCluster, rolloutCompleteCondition)?.status;
      return rule === 'StepRefused' && message.includes(sentence) && complete === 'False';
    });
    await cluster.event('StepRefused');
    expect(await cluster.steps()).to.deep.equal([]);
    await client.remove(bindings, { name }, {}, lane);
    await client.remove(policies, { name }, {}, lane);
    await cluster.completes();
    expect(await cluster.steps()).to.deep.equal(['evict 2', 'evict 1', 'demote 0', 'evict 0', 'promoteRevision']);
  });
});
