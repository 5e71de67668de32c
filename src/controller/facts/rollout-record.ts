import type { MySQLRollout } from '../../api/rollout.ts';
import type { Stored } from '../../kube/store.ts';
import { omitUndefined } from '../../moco/json.ts';

/** A MySQLRollout as the cache keeps it. */
export interface RolloutRecord extends Stored {
  readonly object: MySQLRollout;
  /**
   * Without spec and status: its MySQLCluster did not exist when it was delivered. It is read by name once the cluster
   * exists.
   */
  readonly partial: boolean;
}

/**
 * The used fields of a MySQLRollout: labels, annotations and managedFields may be a thousand times larger. A PUT of
 * the status without them does not change them: from an object's metadata the API server applies only resourceVersion
 * and managedFields there.
 */
export function usedOf({ apiVersion, kind, metadata, spec, status }: MySQLRollout): MySQLRollout {
  const { namespace, name, uid, resourceVersion, generation, deletionTimestamp, finalizers, ownerReferences } =
    metadata;
  const used = { namespace, name, uid, resourceVersion, generation, deletionTimestamp, finalizers, ownerReferences };
  return omitUndefined<MySQLRollout>({
    apiVersion,
    kind,
    metadata: omitUndefined<MySQLRollout['metadata']>(used),
    spec,
    status,
  });
}

export function wholeRecord(rollout: MySQLRollout): RolloutRecord {
  const { namespace, name, uid, resourceVersion } = rollout.metadata;
  return { namespace, name, uid, resourceVersion, object: usedOf(rollout), partial: false };
}

/**
 * The record of a MySQLRollout without a MySQLCluster. Its spec and status are not needed, so many of them cost little
 * memory.
 */
export function partialRecord(rollout: MySQLRollout): RolloutRecord {
  const { spec: _spec, status: _status, ...object } = usedOf(rollout);
  return { ...wholeRecord(rollout), object, partial: true };
}
