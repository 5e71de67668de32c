import { ApiError } from '../../src/kube/api-error.ts';
import { path, pods, type ResourceKind } from '../../src/kube/resource.ts';
import { until } from '../support/control-plane/until.ts';
import type { ObjectClient } from '../support/object-client.ts';
import type { Stage } from '../support/stage/stage.ts';
import type { RolloutCluster } from './rollout-cluster.ts';

const of = (plural: string, kind: string): ResourceKind => ({
  group: 'admissionregistration.k8s.io',
  version: 'v1',
  plural,
  kind,
  namespaced: false,
});
const policies = of('validatingadmissionpolicies', 'ValidatingAdmissionPolicy');
const bindings = of('validatingadmissionpolicybindings', 'ValidatingAdmissionPolicyBinding');

export interface Refusal {
  /** What the API server's answer names. */
  readonly name: string;
  /** Resolves once evictions pass again. */
  remove(): Promise<void>;
}

/** A user-made ValidatingAdmissionPolicy that refuses every eviction in the cluster's namespace. */
export async function refuseEvictions({ client }: Stage, cluster: RolloutCluster): Promise<Refusal> {
  const name = `nobody-is-evicted-in-${cluster.namespace}`;
  const write = { priority: 'disrupt' } as const;
  const rule = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods/eviction'] };
  const namespaceSelector = { matchLabels: { 'kubernetes.io/metadata.name': cluster.namespace } };
  await client.create(
    policies,
    {},
    {
      metadata: { name },
      spec: {
        failurePolicy: 'Fail',
        matchConstraints: { namespaceSelector, resourceRules: [rule] },
        validations: [{ expression: 'false', message: 'no pod is evicted here', reason: 'Forbidden' }],
      },
    },
    write,
  );
  await client.create(
    bindings,
    {},
    { metadata: { name }, spec: { policyName: name, validationActions: ['Deny'] } },
    write,
  );
  const refused = (): Promise<boolean> => isRefused(client, cluster);
  await until('evictions are refused', refused);
  return {
    name,
    remove: async () => {
      await client.remove(bindings, { name }, {}, write);
      await client.remove(policies, { name }, {}, write);
      await until('evictions are no longer refused', async () => !(await refused()));
    },
  };
}

async function isRefused(client: ObjectClient, cluster: RolloutCluster): Promise<boolean> {
  const name = cluster.podName(0);
  try {
    await client.call({
      method: 'POST',
      path: path(pods, { namespace: cluster.namespace, name, subresource: 'eviction' }),
      query: { dryRun: 'All' },
      body: { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { name, namespace: cluster.namespace } },
      priority: 'read',
    });
    return false;
  } catch (error) {
    if (error instanceof ApiError) return error.status === 403;
    throw error;
  }
}
