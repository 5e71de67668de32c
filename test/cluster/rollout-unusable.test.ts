import { expect } from 'chai';
import { sampleCluster } from '../../hack/moco/sample.ts';
import { clusterKind } from '../../src/moco/names.ts';
import type { RolloutCluster } from './rollout-cluster.ts';
import { useRollouts } from './rollout-fixture.ts';

const finalizer = 'example.com/keep';

async function saysSo(cluster: RolloutCluster, rule: string): Promise<void> {
  await cluster.setImage('mysql:8.4.9');
  await cluster.holds(rule);
  const event = await cluster.event(rule);
  expect(event.type).to.equal('Warning');
  await cluster.until('RolloutComplete is False', ({ cluster: mysqlCluster }) =>
    mysqlCluster?.status?.conditions?.some(
      ({ type, status, reason }) => type === 'moco-rollout.io/RolloutComplete' && status === 'False' && reason === rule,
    ),
  );
  expect(await cluster.steps()).to.deep.equal([]);
}

describe('a cluster whose MySQLRollout is unusable', () => {
  const { scenario } = useRollouts();
  const patch = (cluster: RolloutCluster, body: object): Promise<string> =>
    cluster.kubectl('patch', 'mysqlrollout', cluster.name, '--type=merge', '-p', JSON.stringify(body));

  scenario(
    'says that another MySQLCluster owns it, and goes on without the owner',
    { replicas: 1 },
    async (cluster) => {
      const sample = sampleCluster({ name: 'other', namespace: cluster.namespace, spec: { offline: true } });
      const { metadata } = await cluster.make(clusterKind, sample);
      const { apiVersion, kind } = sample as { apiVersion: string; kind: string };
      await patch(cluster, { metadata: { ownerReferences: [{ apiVersion, kind, name: 'other', uid: metadata.uid }] } });
      await saysSo(cluster, 'RolloutNotOwned');
      await patch(cluster, { metadata: { ownerReferences: null } });
      await cluster.completes();
    },
  );

  scenario('says that a finalizer keeps it, and goes on with the next', { replicas: 1 }, async (cluster) => {
    await patch(cluster, { metadata: { finalizers: [finalizer] } });
    await cluster.kubectl('delete', 'mysqlrollout', cluster.name, '--wait=false');
    await saysSo(cluster, 'RolloutTerminating');
    await patch(cluster, { metadata: { finalizers: null } });
    await cluster.completes();
  });
});
