import { ApiError, isForbidden } from '../../kube/api-error.ts';
import { parseLease } from '../../kube/lease.ts';
import { leases } from '../../kube/resource.ts';
import { type Json, milliseconds, object, text } from '../../moco/json.ts';
import { flagsAnnotation, type PublishedOptions, readPublished } from '../../options/published.ts';
import { brief, secondsSince } from '../terminal/lines.ts';
import { listIfThere, unlessRefused } from './clusters.ts';
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
  const found = await unlessRefused(controllerLease(session));
  if (found === null) return null;
  const { metadata, spec } = parseLease(found);
  const silent = secondsSince(milliseconds(spec?.renewTime ?? null), session.world.wall());
  if (silent === null || silent < longestSilenceSeconds) return null;
  return `no controller has renewed its lease for ${brief(silent)}: nothing goes on until one runs (namespace ${metadata.namespace})`;
}

export interface PublishedFlags {
  readonly options: PublishedOptions;
  /** Whether they are those of the controller. Otherwise they are the built-in ones. */
  readonly isKnown: boolean;
}

/** The flags that the leader publishes. */
export async function publishedFlags(session: Session): Promise<PublishedFlags> {
  const lease = await unlessRefused(controllerLease(session));
  const annotation = text(object(object(lease?.['metadata'])['annotations'])[flagsAnnotation]) ?? undefined;
  return { options: readPublished(annotation), isKnown: annotation !== undefined };
}

/**
 * The controller's lease in the namespace of `config/`, or else wherever it is installed. `null` if there is none.
 * Rejects with the API server's answer if the session may read neither.
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
