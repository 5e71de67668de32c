import { expect } from 'chai';
import { ApiError } from '../../src/kube/api-error.ts';
import type { Connection } from '../../src/kube/connection.ts';
import { path, pods } from '../../src/kube/resource.ts';
import { until } from '../support/control-plane/until.ts';
import { accessWith, type ObjectClient } from '../support/object-client.ts';
import type { RolloutCluster } from './rollout-cluster.ts';
import { useRollouts } from './rollout-fixture.ts';
import { conditionOf } from './rollout-history.ts';
import { isReady } from './rollout-members.ts';

/** It refuses what the controller never sends. Here it is away, so that the witness has something to object to. */
const binding = ['validatingadmissionpolicybinding', 'controller-deletions.moco-rollout.io'] as const;
const refusedStatus = 422;

/** In turn, on one cluster. */
describe('the witness of rollouts', function () {
  const { stage, newCluster } = useRollouts();
  let connection: Connection;
  let client: ObjectClient;
  let cluster: RolloutCluster;
  let violationsBefore = 0;
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

  beforeEach(async () => {
    await cluster.until('the cluster is healthy', ({ cluster: now, pods: members }) => {
      return conditionOf(now, 'Healthy')?.status === 'True' && members.filter(isReady).length === 3;
    });
    await cluster.isTaken();
    violationsBefore = (await cluster.violations()).length;
  });

  /** The laws that have been broken, and against which member. */
  const violations = async (): Promise<readonly string[]> =>
    (await cluster.violations()).slice(violationsBefore).map((sentence) => sentence.split(':')[0] ?? '');

  /** Deletes the pod of this ordinal, as the controller may, and waits for the next one unless told not to. */
  async function remove(ordinal: number, { withPreconditions = true, waits = true } = {}): Promise<void> {
    const { namespace } = cluster;
    const { name, uid, resourceVersion } = (await cluster.pod(ordinal, 'is there', () => true)).metadata;
    const body = withPreconditions ? { preconditions: { uid, resourceVersion } } : {};
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
    await cluster.pod(ordinal, waits ? 'is new and ready' : 'is terminating', (pod) => {
      return waits ? pod.metadata.uid !== uid && isReady(pod) : pod.metadata.deletionTimestamp !== undefined;
    });
  }

  const primary = (): number => cluster.now.cluster?.status?.currentPrimaryIndex ?? 0;
  const replicas = (): readonly number[] => [2, 1, 0].filter((ordinal) => ordinal !== primary());

  it('accepts a rollout', async () => {
    await cluster.setImage('mysql:8.4.9');
    await cluster.completes();
    expect(await violations()).to.deep.equal([]);
  });

  it('objects to the deletion of a healthy member without preconditions', async () => {
    const [replica = 0] = replicas();
    await remove(replica, { withPreconditions: false });
    expect(await violations()).to.include.members(['I4', 'I5', 'I9']);
  });

  it('objects to the disruption of a primary without a switchover', async () => {
    await remove(primary());
    expect(await violations()).to.include('I3');
  });

  it('objects to a controller that deletes pods at will', async () => {
    for (const ordinal of [...replicas(), primary()]) await remove(ordinal, { waits: false });
    expect(await violations()).to.include.members(['I2', 'I4', 'I5', 'I9']);
  });
});
