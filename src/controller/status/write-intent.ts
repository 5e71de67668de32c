import type { MySQLRollout } from '../../api/rollout.ts';
import { keyOf } from '../../kube/store.ts';
import type { ClusterState } from '../memory/cluster-memory.ts';
import { emitNews } from './emit.ts';
import type { ReportContext } from './report-context.ts';
import type { StatusReport } from './status-report.ts';
import { type StatusWrite, writeStatus } from './write-status.ts';

/** Writes an intent to the status, or removes a settled one. */
export async function writeIntent(
  context: ReportContext,
  rollout: MySQLRollout,
  { status, news }: StatusReport,
  state: ClusterState,
  signal: AbortSignal,
): Promise<StatusWrite> {
  const result = await writeStatus(context, rollout, status, state, 'disrupt', signal);
  if (result === 'written') {
    const { namespace, name } = rollout.metadata;
    const objects = context.cache.objects(keyOf(namespace, name));
    emitNews(news, objects && { objects, rollout }, context);
  }
  return result;
}
