import { isOwnOf } from '../../api/rollout.ts';
import { ApiError, isAlreadyExists, isNotFound } from '../../kube/api-error.ts';
import { splitKey } from '../../kube/store.ts';
import type { ClusterRecord } from '../../moco/records.ts';
import { type Cache } from '../cache/cache.ts';
import { wholeRecord } from '../facts/rollout-record.ts';
import type { ClusterState } from '../memory/cluster-memory.ts';
import { newestRollout } from '../pass/observe.ts';
import type { ClusterReader } from '../reads/cluster-reader.ts';
import type { StatusClient } from '../status/status-client.ts';
import type { Context, Ended } from './context.ts';
import { settleIntent } from './settle.ts';

/**
 * Ensures that a MySQLRollout exists and that no earlier step can still happen. Resolves to how the reconciliation
 * ends if it cannot continue, otherwise to `null`.
 */
export async function prepare(
  context: Context,
  key: string,
  cluster: ClusterRecord,
  state: ClusterState,
  signal: AbortSignal,
): Promise<Ended | null> {
  if (cluster.deleting) return null;
  const rollout = newestRollout(key, state, context.cache);
  if (rollout === null) {
    await createRollout(cluster, context.api, signal);
    return { requeue: {}, report: null, result: null };
  }
  // The MySQLRollout of another cluster is not changed: the decision is the hold that explains why.
  if (!isOwnOf(cluster, rollout)) return null;
  return settleIntent(context, key, rollout, state, signal);
}

/** Creates the MySQLRollout. Its watch event triggers the next reconciliation. */
async function createRollout(cluster: ClusterRecord, api: StatusClient, signal: AbortSignal): Promise<void> {
  try {
    await api.createRollout(cluster, signal);
  } catch (error) {
    // It exists already, or its namespace is terminating. Either way a watch event follows soon.
    const ending = error instanceof ApiError && error.causes.some(({ reason }) => reason === 'NamespaceTerminating');
    if (!isAlreadyExists(error) && !isNotFound(error) && !ending) throw error;
  }
}

/**
 * Reads the whole MySQLRollout if its watch event arrived before that of the MySQLCluster. Resolves to whether it is
 * fully known, or known to be absent.
 */
export async function readWhole(
  key: string,
  { cache, api }: { readonly cache: Cache; readonly api: ClusterReader },
  signal: AbortSignal,
): Promise<boolean> {
  const [namespace, name] = splitKey(key);
  const known = cache.rollouts.get(namespace, name);
  if (!known?.partial) return true;
  const rollout = await api.readRollout(namespace, name, signal);
  // The watch delivered it in the meantime, and that version is at least as new.
  if (rollout !== null && cache.rollouts.get(namespace, name) === known) cache.rollouts.put(wholeRecord(rollout));
  // The MySQLRollout is gone. The watch is about to deliver that.
  return rollout !== null;
}
