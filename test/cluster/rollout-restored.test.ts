import { expect } from 'chai';
import { type MySQLRollout, rolloutKind } from '../../src/api/rollout.ts';
import type { RolloutStatus } from '../../src/api/rollout-status.ts';
import { isConflict, isNotFound } from '../../src/kube/api-error.ts';
import { path } from '../../src/kube/resource.ts';
import { until } from '../support/control-plane/until.ts';
import type { RolloutCluster } from './rollout-cluster.ts';
import { useRollouts } from './rollout-fixture.ts';
import { imageOf } from './rollout-members.ts';

/** What pruning, or a restore from a backup, does to a rollout. */
describe('a MySQLRollout that is deleted', () => {
  const { scenario, stage } = useRollouts();

  const placeOf = ({ namespace, name }: RolloutCluster) => ({ namespace, name });

  /** The status of the first rollout, from the moment just before a member went. */
  function oldStatus(cluster: RolloutCluster): RolloutStatus {
    const statuses = cluster.versions(rolloutKind).map(([, object]) => (object as unknown as MySQLRollout).status);
    const withIntent = statuses.find((status) => status?.intent !== undefined);
    expect(withIntent, 'a status with an intent').not.to.equal(undefined);
    return withIntent ?? {};
  }

  /** A restore that also restores statuses: the API server takes a status only from a write of its own. */
  async function restore(cluster: RolloutCluster, status: RolloutStatus): Promise<void> {
    const { client } = stage();
    const write = async (): Promise<boolean> => {
      try {
        const present = await client.get<MySQLRollout>(rolloutKind, placeOf(cluster), { priority: 'read' });
        await client.call({
          method: 'PUT',
          path: path(rolloutKind, { ...placeOf(cluster), subresource: 'status' }),
          body: { ...present, status },
          priority: 'disrupt',
        });
        return true;
      } catch (error) {
        if (isConflict(error) || isNotFound(error)) return false;
        throw error;
      }
    };
    await until('the old status is written', write);
  }

  async function rolledOnce(cluster: RolloutCluster): Promise<RolloutStatus> {
    await cluster.setImage('mysql:8.4.9');
    await cluster.completes();
    return oldStatus(cluster);
  }

  scenario('and restored with an old status while nothing rolls leads to no step', {}, async (cluster) => {
    const old = await rolledOnce(cluster);
    await cluster.begin();
    await cluster.remove(rolloutKind, cluster.name);
    await restore(cluster, old);
    await cluster.until('the old intent is gone', ({ rollout }) => {
      const { intent, phase } = rollout?.status ?? {};
      return intent === undefined && phase === 'UpToDate';
    });
    await cluster.completes();
    expect(await cluster.steps()).to.deep.equal([]);
  });

  scenario('and restored with an old status in the middle of a rollout breaks nothing', {}, async (cluster) => {
    const old = await rolledOnce(cluster);
    await cluster.begin();
    cluster.neverSchedule(2);
    await cluster.setImage('mysql:8.4.10');
    await cluster.pod(2, 'is new and waits for a node', (pod) => imageOf(pod) === 'mysql:8.4.10');
    await cluster.remove(rolloutKind, cluster.name);
    await restore(cluster, old);
    cluster.heal(2);
    await cluster.completes();
    // The first rollout has moved the primary to 1.
    expect(await cluster.steps()).to.deep.equal(['evict 2', 'evict 0', 'demote 1', 'evict 1', 'promoteRevision']);
  });
});
