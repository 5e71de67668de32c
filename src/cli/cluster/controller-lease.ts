import { ApiError, isForbidden } from '../../kube/api-error.ts';
import { type Lease, parseLease } from '../../kube/lease.ts';
import { leases } from '../../kube/resource.ts';
import { type Json, milliseconds, object, text } from '../../moco/json.ts';
import { brief, secondsSince } from '../terminal/words.ts';
import { listIfThere } from './clusters.ts';
import type { Session } from './session.ts';

/** The lease of the controller where `config/` installs it. */
const place = { namespace: 'moco-rollout-system', name: 'moco-rollout' } as const;

/** Much longer than a leader needs to renew the lease, or another process to acquire it. */
const longestSilenceSeconds = 60;

/**
 * A message that no controller is running, and so that statuses are out of date, if its lease shows that. `null` if a
 * controller is running, or if the lease cannot be read.
 */
export async function controllerNote(session: Session): Promise<string | null> {
  let lease: Lease;
  let namespace: string;
  try {
    const found = await controllerLease(session);
    if (found === null) return null;
    lease = parseLease(found);
    namespace = text(object(found['metadata'])['namespace']) ?? '';
  } catch (error) {
    if (error instanceof ApiError && error.status !== 0) return null;
    throw error;
  }
  const silent = secondsSince(milliseconds(lease.spec?.renewTime ?? null), session.world.wall());
  if (silent === null || silent < longestSilenceSeconds) return null;
  return `no controller has renewed its lease for ${brief(silent)}: nothing goes on until one runs (namespace ${namespace})`;
}

/**
 * The controller's lease in the namespace of `config/`, or else wherever it is installed. `null` if there is none. Rejects
 * with the API server's answer if the session may read neither.
 */
export async function controllerLease(session: Session): Promise<Json | null> {
  try {
    return await session.client.get(leases, place, { priority: 'read', signal: session.signal });
  } catch (error) {
    if (!(error instanceof ApiError && (error.status === 404 || isForbidden(error)))) throw error;
  }
  const found = await listIfThere(session, leases, null, { fieldSelector: `metadata.name=${place.name}` });
  return found?.find(({ metadata }) => object(metadata)['name'] === place.name) ?? null;
}
