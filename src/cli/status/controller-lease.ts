import { ApiError } from '../../kube/api-error.ts';
import { type Lease, parseLease } from '../../kube/lease.ts';
import { leases } from '../../kube/resource.ts';
import { milliseconds } from '../../moco/timestamp.ts';
import { brief, secondsSince } from '../durations.ts';
import type { Session } from '../session.ts';

/** Where `config/` installs the controller, and what its lease is called. */
const place = { namespace: 'moco-rollout-system', name: 'moco-rollout' } as const;

/** Many times as long as a leader goes without renewing it; a change of leaders takes less. */
const longestSilenceSeconds = 60;

/**
 * That no controller leads, where its lease says so: then whatever the status says is what was once the case. `null`
 * where one does, or where that can't be known, with other rights or another installation.
 */
export async function controllerNote({ client, world, signal }: Session): Promise<string | null> {
  let lease: Lease;
  try {
    lease = parseLease(await client.get(leases, place, { lane: 'read', signal }));
  } catch (error) {
    if (error instanceof ApiError && error.status !== 0) return null;
    throw error;
  }
  const silent = secondsSince(milliseconds(lease.spec?.renewTime ?? null), world.wall());
  if (silent === null || silent < longestSilenceSeconds) return null;
  return `no controller has renewed its lease for ${brief(silent)}: nothing goes on until one runs (namespace ${place.namespace})`;
}
