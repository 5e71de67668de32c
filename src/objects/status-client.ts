import { type MySQLRollout, type RolloutSpec, rolloutKind, usedOf } from '../api/rollout.ts';
import type { PolicyStatus } from '../api/rollout-policy.ts';
import type { SequenceStatus } from '../api/rollout-sequence.ts';
import type { RolloutStatus } from '../api/rollout-status.ts';
import { type Json, object, objects } from '../base/json.ts';
import { isConflict } from '../kube/api-error.ts';
import { apiVersion, path, type ResourceKind } from '../kube/resource.ts';
import type { Stored } from '../kube/store.ts';
import { clusterKind, rolloutCompleteCondition } from '../moco/names.ts';
import type { ClusterObjects } from '../moco/records.ts';
import { ClusterReader } from './cluster-reader.ts';

// Writes that only report: statuses and conditions, and new MySQLRollouts, which have no settings.

/** How often a write is attempted, because MOCO may write the MySQLCluster between the read and the write here. */
export const mostTries = 3;

/** Creates MySQLRollouts and replaces statuses. These writes report something and never disrupt a member. */
export class StatusClient extends ClusterReader {
  createRollout(cluster: ClusterObjects['cluster']): Promise<MySQLRollout> {
    const { namespace, name, uid } = cluster;
    return this.call({
      method: 'POST',
      path: path(rolloutKind, { namespace }),
      body: {
        apiVersion: apiVersion(rolloutKind),
        kind: rolloutKind.kind,
        metadata: {
          namespace,
          name,
          ownerReferences: [
            { apiVersion: apiVersion(clusterKind), kind: clusterKind.kind, name, uid, controller: true },
          ],
        },
      },
      priority: 'status',
    });
  }

  /**
   * Applies the fields of one field manager. Lists are read and written as a whole. The resourceVersion is a
   * precondition, so no entry of a concurrent writer is lost.
   */
  applyRollout(
    { metadata: { namespace, name, uid, resourceVersion } }: Pick<MySQLRollout, 'metadata'>,
    spec: RolloutSpec,
    fieldManager: string,
  ): Promise<MySQLRollout> {
    return this.call({
      method: 'PATCH',
      path: path(rolloutKind, { namespace, name }),
      query: { fieldManager, fieldValidation: 'Strict' },
      contentType: 'application/apply-patch+yaml',
      body: {
        apiVersion: apiVersion(rolloutKind),
        kind: rolloutKind.kind,
        metadata: { namespace, name, uid, resourceVersion },
        ...(Object.keys(spec).length > 0 && { spec }),
      },
      priority: 'status',
    });
  }

  /**
   * Replaces the status. The resourceVersion of the MySQLRollout is the precondition: the write fails if a second
   * leader or a user has changed the object. Validation is strict: the API server refuses fields that its CRD does not
   * know (400) instead of dropping them.
   */
  async replaceRolloutStatus(
    rollout: MySQLRollout,
    status: RolloutStatus,
    priority: 'disrupt' | 'status',
  ): Promise<MySQLRollout> {
    const { namespace, name } = rollout.metadata;
    const kept = await this.call<MySQLRollout>({
      method: 'PUT',
      path: path(rolloutKind, { namespace, name, subresource: 'status' }),
      query: { fieldValidation: 'Strict' },
      body: { ...rollout, status },
      priority,
    });
    return usedOf(kept);
  }

  /**
   * Replaces the status of an object without a namespace. Rejects with 409 if the object has changed since it was read.
   */
  async replaceStatus(
    kind: ResourceKind,
    { name, uid, resourceVersion }: Pick<Stored, 'name' | 'uid' | 'resourceVersion'>,
    fields: { readonly spec?: unknown; readonly status: PolicyStatus | SequenceStatus },
  ): Promise<void> {
    await this.call({
      method: 'PUT',
      path: path(kind, { name, subresource: 'status' }),
      query: { fieldValidation: 'Strict' },
      body: { apiVersion: apiVersion(kind), kind: kind.kind, metadata: { name, uid, resourceVersion }, ...fields },
      priority: 'status',
    });
  }

  /**
   * Removes this program's condition from the MySQLCluster, if it is there. Resolves to `false` if it is still there
   * because MOCO wrote in between each time.
   */
  async removeCompletion(cluster: ClusterObjects['cluster']): Promise<boolean> {
    if (cluster.rolloutComplete === null) return true;
    return this.changeConditions(cluster, mostTries, async (raw, conditions) => {
      const others = conditions.filter(({ type }) => type !== rolloutCompleteCondition);
      return object(raw['metadata'])['uid'] !== cluster.uid || others.length === conditions.length ? null : others;
    });
  }

  /**
   * Reads the MySQLCluster, changes its conditions and writes it back, because conditions are an atomic list. `change`
   * gets the MySQLCluster with all its fields, and resolves to `null` if there is nothing to write. Resolves to `false`
   * if other programs wrote in between at every attempt.
   */
  async changeConditions(
    { namespace, name }: Pick<ClusterObjects['cluster'], 'namespace' | 'name'>,
    times: number,
    change: (raw: Json, conditions: readonly Json[]) => Promise<readonly Json[] | null>,
  ): Promise<boolean> {
    for (let tries = 1; tries <= times; tries++) {
      const raw = await this.read(clusterKind, { namespace, name });
      const status = object(raw?.['status']);
      const conditions = raw && (await change(raw, objects(status['conditions'])));
      if (conditions === null) return true;
      try {
        await this.call({
          method: 'PUT',
          path: path(clusterKind, { namespace, name, subresource: 'status' }),
          body: { ...raw, status: { ...status, conditions } },
          priority: 'status',
        });
        return true;
      } catch (error) {
        if (!isConflict(error)) throw error;
      }
    }
    return false;
  }
}
