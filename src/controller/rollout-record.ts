import type { Stored } from '../kube/store.ts';
import { defined } from './defined.ts';
import type { MySQLRollout } from './rollout-resource.ts';

/** A MySQLRollout as the cache keeps it. */
export interface RolloutRecord extends Stored {
  readonly object: MySQLRollout;
  /** Without spec and status: its MySQLCluster was not there when it came. It is read by name once that is there. */
  readonly partial: boolean;
}

/**
 * What is used of a MySQLRollout, and no more: labels, annotations and who has written which field may weigh a thousand
 * times as much. A PUT of the status without them changes nothing about them: of an object's metadata the API server
 * takes resourceVersion and managedFields alone there.
 */
export function usedOf({ apiVersion, kind, metadata, spec, status }: MySQLRollout): MySQLRollout {
  const { namespace, name, uid, resourceVersion, generation, deletionTimestamp, finalizers, ownerReferences } =
    metadata;
  const used = { namespace, name, uid, resourceVersion, generation, deletionTimestamp, finalizers, ownerReferences };
  return defined<MySQLRollout>({ apiVersion, kind, metadata: defined<MySQLRollout['metadata']>(used), spec, status });
}

export function wholeRecord(rollout: MySQLRollout): RolloutRecord {
  const { namespace, name, uid, resourceVersion } = rollout.metadata;
  return { namespace, name, uid, resourceVersion, object: usedOf(rollout), partial: false };
}

/** For one whose MySQLCluster does not exist: nobody asks what it says, however many of them there are. */
export function partialRecord(rollout: MySQLRollout): RolloutRecord {
  const { spec: _spec, status: _status, ...object } = usedOf(rollout);
  return { ...wholeRecord(rollout), object, partial: true };
}
