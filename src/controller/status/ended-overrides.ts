import { type MySQLRollout, pluginManager, rolloutKind } from '../../api/rollout.ts';
import { milliseconds } from '../../base/json.ts';
import { ApiError, isConflict } from '../../kube/api-error.ts';
import { nameOf } from '../../kube/store.ts';
import { ownersOf } from '../../moco/managed-fields.ts';
import type { StatusClient } from '../../objects/status-client.ts';
import type { Observation } from '../pass/observe.ts';
import type { Pass } from '../pass/pass.ts';
import { rememberPublished } from '../pass/remember.ts';

/**
 * Removes expired overrides from the spec of the MySQLRollout, but only overrides that the plugin wrote, using the
 * plugin's field manager. Any other writer, such as a GitOps tool, would add its overrides again. Tries once for each
 * expiry.
 */
export async function removeEndedOverrides(
  { rollout, settings, snapshot, now }: Observation,
  { memory, api, context: { log } }: Pass<StatusClient>,
): Promise<void> {
  const hasEnded = ({ until }: { readonly until: string }): boolean =>
    (milliseconds(until) ?? Number.POSITIVE_INFINITY) <= (milliseconds(now) ?? 0);
  if (rollout === null || settings.problem !== null || snapshot.rolloutProblem !== null) return;
  const ended = (rollout.spec?.overrides ?? []).filter(hasEnded).map(({ rule, until }) => `${rule} ${until}`);
  const known = ended.join();
  if (known === memory.published.endedOverrides) return;
  rememberPublished(memory, { endedOverrides: known });
  if (known === '') return;
  try {
    const { namespace, name } = rollout.metadata;
    const raw = (await api.read(rolloutKind, { namespace, name })) as MySQLRollout | null;
    if (raw === null) return;
    const manager = pluginManager('override');
    const own = (raw.spec?.overrides ?? []).filter(({ rule }) =>
      ownersOf(raw, 'overrides', { rule }).includes(manager),
    );
    const overrides = own.filter((one) => !hasEnded(one));
    if (overrides.length === own.length) return;
    await api.applyRollout(raw, overrides.length === 0 ? {} : { overrides }, manager);
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    // Another client has written the MySQLRollout, so the removal is attempted again.
    if (isConflict(error)) rememberPublished(memory, { endedOverrides: '' });
    const cluster = nameOf(rollout.metadata);
    log.warn({ cluster, error }, 'Failed to remove expired overrides');
  }
}
