import { expect } from 'chai';
import { ApiError } from '../../src/kube/api-error.ts';
import type { Connection } from '../../src/kube/connection.ts';
import { path, pods } from '../../src/kube/resource.ts';
import { until } from '../support/control-plane/until.ts';
import { accessWith, type ObjectClient } from '../support/object-client.ts';
import type { RolloutCluster } from './rollout-cluster.ts';
import { useRollouts } from './rollout-fixture.ts';

/** It refuses what the controller never sends. Here it is away, so that the witness has something to object to. */
const binding = ['validatingadmissionpolicybinding', 'controller-deletions.moco-rollout.io'] as const;
const refusedStatus = 422;

// What else it objects to: test/verification/witness. Here it hears what a real API server records.
describe('the witness of rollouts', () => {
  const { stage, newCluster } = useRollouts();
  let connection: Connection;
  let client: ObjectClient;
  let cluster: RolloutCluster;
  let bound: object;

  before(async () => {
    const { controlPlane } = stage();
    bound = JSON.parse(await controlPlane.kubectl('get', ...binding, '-o', 'json')) as object;
    await controlPlane.kubectl('delete', ...binding);
  });

  after(async () => {
    const { controlPlane } = stage();
    const { spec } = bound as { spec: object };
    const [, name] = binding;
    const again = {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata: { name },
      spec,
    };
    await controlPlane.kubectl('create', '-f', await controlPlane.fileOf(again));
  });

  before(async () => {
    const serviceAccount = { namespace: 'moco-rollout-system', name: 'moco-rollout' };
    ({ client, connection } = accessWith(await stage().controlPlane.kubeconfigFor(serviceAccount)));
    cluster = newCluster();
    await cluster.create({});
    await cluster.isTaken();
  });

  after(() => connection?.close());

  /** Deletes the pod of this ordinal, as the controller may, and waits until it is going. */
  async function remove(ordinal: number): Promise<void> {
    const { namespace } = cluster;
    const { name, uid, resourceVersion } = (await cluster.pod(ordinal, 'is there', () => true)).metadata;
    const body = { preconditions: { uid, resourceVersion } };
    const deletion = { method: 'DELETE', path: path(pods, { namespace, name }), body, priority: 'disrupt' } as const;
    // The API server goes by the policy for a moment after its binding has gone.
    await until('the deletion is accepted', () =>
      client.call(deletion).then(
        () => true,
        (error: unknown) => {
          if (error instanceof ApiError && error.status === refusedStatus) return undefined;
          throw error;
        },
      ),
    );
    await cluster.pod(ordinal, 'is terminating', ({ metadata }) => metadata.deletionTimestamp !== undefined);
  }

  it('objects to a controller that deletes pods at will', async () => {
    const primary = cluster.now.cluster?.status?.currentPrimaryIndex ?? 0;
    for (const ordinal of [...[2, 1, 0].filter((one) => one !== primary), primary]) await remove(ordinal);
    const laws = (await cluster.violations()).map((sentence) => sentence.split(':')[0]);
    expect(laws).to.include.members(['I2', 'I4', 'I5', 'I9']);
  });
});
