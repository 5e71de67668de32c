import type { MySQLRollout } from '../../api/rollout.ts';
import { splitKey } from '../../kube/store.ts';
import { timestampOf } from '../../moco/json.ts';
import { again, type End, vetoed } from '../pass/end.ts';
import type { Pass } from '../pass/pass.ts';
import { reportSettled } from '../status/news.ts';
import { writeIntent } from '../status/write-status.ts';
import type { ClusterApi } from './cluster-client.ts';
import { invalidate } from './intent.ts';

/**
 * Invalidates an intent with an unknown outcome before anything else is done, for example after a crash, a change of
 * leader or a lost response. Resolves to `null` if there is no such intent.
 */
export async function settleIntent(pass: Pass<ClusterApi>, rollout: MySQLRollout): Promise<End | null> {
  const { key, memory, api, context } = pass;
  const { intent } = rollout.status ?? {};
  if (!intent || intent.id === memory.steps.settledIntent) return null;
  const left = await invalidate(intent, splitKey(key)[0], api);
  const settled = reportSettled(rollout.status ?? {}, left, timestampOf(context.world.wall()));
  const written = await writeIntent(pass, rollout, settled);
  if (written === 'refused') return { kind: 'nothing', report: 'cached' };
  if (written === 'overtaken') return { kind: 'nothing', report: null, ...vetoed };
  context.fleet.count(intent);
  context.log.info({ cluster: key, step: intent.step, rule: intent.rule }, 'invalidated a previous intent');
  return { kind: 'settled', intent, ...again };
}
