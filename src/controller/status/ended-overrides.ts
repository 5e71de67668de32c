import { type MySQLRollout, pluginManager } from '../../api/rollout.ts';
import { ApiError, isConflict } from '../../kube/api-error.ts';
import { keyOf } from '../../kube/store.ts';
import { milliseconds } from '../../moco/json.ts';
import { ownersOf } from '../../moco/managed-fields.ts';
import type { ClusterState } from '../memory/cluster-memory.ts';
import type { Observation } from '../pass/observe.ts';
import { rememberEndedOverrides } from '../pass/remember.ts';
import type { ReportContext } from './report-context.ts';

/**
 * Removes the overrides that have ended from the spec of the MySQLRollout: those that the plugin has written, under its
 * field manager. Whoever else has written some, such as a GitOps tool, would write them again. Tried once for each end.
 */
export async function removeEndedOverrides(
  { rollout, settings, snapshot, now }: Observation,
  state: ClusterState,
  { api, log }: Pick<ReportContext, 'api' | 'log'>,
  signal: AbortSignal,
): Promise<void> {
  const hasEnded = ({ until }: { readonly until: string }): boolean =>
    (milliseconds(until) ?? Number.POSITIVE_INFINITY) <= (milliseconds(now) ?? 0);
  if (rollout === null || settings.problem !== null || snapshot.rolloutProblem !== null) return;
  const ended = (rollout.spec?.overrides ?? []).filter(hasEnded).map(({ rule, until }) => `${rule} ${until}`);
  const known = ended.join();
  if (known === state.endedOverrides) return;
  rememberEndedOverrides(state, known);
  if (known === '') return;
  try {
    const { namespace, name } = rollout.metadata;
    const raw = (await api.read('MySQLRollout', namespace, name, signal)) as MySQLRollout | null;
    if (raw === null) return;
    const manager = pluginManager('override');
    const own = (raw.spec?.overrides ?? []).filter(({ rule }) =>
      ownersOf(raw, 'overrides', { rule }).includes(manager),
    );
    const overrides = own.filter((one) => !hasEnded(one));
    if (overrides.length === own.length) return;
    await api.applyRollout(raw, overrides.length === 0 ? {} : { overrides }, manager, signal);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    // Another write of it comes back here.
    if (isConflict(error)) rememberEndedOverrides(state, '');
    const { namespace, name } = rollout.metadata;
    log.warn({ cluster: keyOf(namespace, name), ended: known, error }, 'could not remove overrides that have ended');
  }
}
