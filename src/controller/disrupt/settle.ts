import type { MySQLRollout } from '../../api/rollout.ts';
import { splitKey } from '../../kube/store.ts';
import { timestampOf } from '../../moco/json.ts';
import type { ClusterState } from '../memory/cluster-memory.ts';
import { reportSettled } from '../status/news.ts';
import { writeIntent } from '../status/write-intent.ts';
import { type Context, type Ended, requeueNow, vetoed } from './context.ts';
import { invalidate } from './intent.ts';

/**
 * Invalidates an intent with an unknown outcome before anything else is done, for example after a crash, a change of
 * leader or a lost response. Resolves to `null` if there is no such intent.
 */
export async function settleIntent(
  context: Context,
  key: string,
  rollout: MySQLRollout,
  state: ClusterState,
  signal: AbortSignal,
): Promise<Ended | null> {
  const { intent } = rollout.status ?? {};
  if (!intent || intent.id === state.settledIntent) return null;
  const left = await invalidate(intent, splitKey(key)[0], context.api, signal);
  const settled = reportSettled(rollout.status ?? {}, left, timestampOf(context.world.wall()));
  const written = await writeIntent(context, rollout, settled, state, signal);
  if (written === 'refused') return { requeue: {}, report: 'cached', result: null };
  if (written === 'overtaken') return { requeue: vetoed, report: null, result: null };
  context.fleet.count(intent);
  context.log.info({ cluster: key, step: intent.step, rule: intent.rule }, 'invalidated a previous intent');
  return { requeue: requeueNow, report: null, result: { kind: 'settled', intent } };
}
