import { isOwnOf, type MySQLRollout, rolloutKind, wholeRecord } from '../../api/rollout.ts';
import { timestampOf } from '../../base/json.ts';
import { isAlreadyExists, isNamespaceTerminating, isNotFound } from '../../kube/api-error.ts';
import { namespaceOfKey, splitKey } from '../../kube/store.ts';
import type { ClusterRecord } from '../../moco/records.ts';
import type { ClusterApi } from '../../objects/cluster-client.ts';
import type { StatusClient } from '../../objects/status-client.ts';
import { again, type End, nothingToReport, vetoed } from '../pass/end.ts';
import { newestRollout } from '../pass/observe.ts';
import type { Pass } from '../pass/pass.ts';
import { reportSettled } from '../status/changes.ts';
import { writeIntent } from '../status/write.ts';
import { invalidate } from './intent.ts';

/**
 * Ensures that a MySQLRollout exists and that no earlier step can still happen. If the pass cannot continue, resolves
 * to how it ends, otherwise to `null`.
 */
export async function prepare(pass: Pass<ClusterApi>): Promise<End | null> {
  const cluster = pass.context.cache.objects(pass.key)?.cluster;
  if (cluster === undefined) return nothingToReport;
  if (cluster.deleting) return null;
  const rollout = newestRollout(pass);
  if (rollout === null) {
    await createRollout(cluster, pass.api);
    return nothingToReport;
  }
  // A MySQLRollout that belongs to a different cluster is not changed: the decision contains the hold that explains
  // why.
  return isOwnOf(cluster, rollout) ? settleIntent(pass, rollout) : null;
}

/** Creates the MySQLRollout. Its watch event triggers the next reconciliation. */
async function createRollout(cluster: ClusterRecord, api: StatusClient): Promise<void> {
  try {
    await api.createRollout(cluster);
  } catch (error) {
    // The MySQLRollout exists already, or its namespace is terminating. In both cases a watch event follows soon.
    if (!isAlreadyExists(error) && !isNotFound(error) && !isNamespaceTerminating(error)) throw error;
  }
}

/**
 * Reads the whole MySQLRollout if its watch event arrived before the watch event of the MySQLCluster. Resolves to
 * whether the MySQLRollout is now fully known, or known not to exist.
 */
export async function readWhole({ key, api, context }: Pass): Promise<boolean> {
  const { rollouts } = context.cache;
  const [namespace, name] = splitKey(key);
  const known = rollouts.get(namespace, name);
  if (!known?.partial) return true;
  const rollout = await api.read(rolloutKind, { namespace, name });
  // If the watch has delivered the MySQLRollout in the meantime, its version is at least as new as the one that was
  // read.
  if (rollout !== null && rollouts.get(namespace, name) === known)
    rollouts.put(wholeRecord(rollout as unknown as MySQLRollout));
  // The MySQLRollout is gone. The watch is about to report that.
  return rollout !== null;
}

/**
 * Invalidates an intent with an unknown outcome, for example after a crash, a change of leader or a lost response. No
 * other step may precede this. Resolves to `null` if there is no such intent.
 */
export async function settleIntent(pass: Pass<ClusterApi>, rollout: MySQLRollout): Promise<End | null> {
  const { key, memory, api, context } = pass;
  const { intent } = rollout.status ?? {};
  if (!intent || intent.id === memory.steps.settledIntent) return null;
  const left = await invalidate(intent, namespaceOfKey(key), api);
  const settled = reportSettled(rollout.status ?? {}, left, timestampOf(context.world.wall()));
  const written = await writeIntent(pass, rollout, settled);
  if (written === 'refused') return { kind: 'nothing', report: 'cached' };
  if (written === 'overtaken') return { kind: 'nothing', report: null, ...vetoed };
  context.fleet.count(intent);
  context.log.info({ cluster: key, step: intent.step, rule: intent.rule }, 'Invalidated a previous intent');
  return { kind: 'settled', intent, ...again };
}
