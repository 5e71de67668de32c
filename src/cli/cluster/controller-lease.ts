import { ApiError } from '../../kube/api-error.ts';
import { type Lease, parseLease } from '../../kube/lease.ts';
import { leases } from '../../kube/resource.ts';
import { milliseconds } from '../../moco/timestamp.ts';
import { brief, secondsSince } from '../terminal/durations.ts';
import type { Session } from './session.ts';

/** The lease of the controller that `config/` installs. */
const place = { namespace: 'moco-rollout-system', name: 'moco-rollout' } as const;

/** Much longer than a leader needs to renew the lease, or another process to acquire it. */
const longestSilenceSeconds = 60;

/**
 * A message that no controller is running, and so that statuses are out of date, if its lease shows that. `null` if a
 * controller is running, or if the lease cannot be read.
 */
export async function controllerNote({ client, world, signal }: Session): Promise<string | null> {
  let lease: Lease;
  try {
    lease = parseLease(await client.get(leases, place, { priority: 'read', signal }));
  } catch (error) {
    if (error instanceof ApiError && error.status !== 0) return null;
    throw error;
  }
  const silent = secondsSince(milliseconds(lease.spec?.renewTime ?? null), world.wall());
  if (silent === null || silent < longestSilenceSeconds) return null;
  return `no controller has renewed its lease for ${brief(silent)}: nothing goes on until one runs (namespace ${place.namespace})`;
}
