import { type Json, milliseconds, object, text } from '../../base/json.ts';
import { ApiError } from '../../kube/api-error.ts';
import { parseLease } from '../../kube/lease.ts';
import { leases } from '../../kube/resource.ts';
import { flagsAnnotation, readPublished } from '../../options/published.ts';
import { brief, secondsSince } from '../terminal/lines.ts';
import { ifAllowed, listOrNothing, unlessRefused } from './clusters.ts';
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
  const silence = await leaseSilence(session);
  if (silence === null || silence.seconds < longestSilenceSeconds) return null;
  return `no controller has renewed its lease for ${brief(silence.seconds)}: no rollout continues until one runs (namespace ${silence.namespace})`;
}

/** Whether a controller holds its lease, wherever it runs. */
export async function isLed(session: Session): Promise<boolean> {
  const silence = await leaseSilence(session);
  return silence !== null && silence.seconds < longestSilenceSeconds;
}

/** Seconds since the lease was renewed; `null` without a lease, or if it cannot be read. */
async function leaseSilence(
  session: Session,
): Promise<{ readonly seconds: number; readonly namespace: string } | null> {
  const found = await unlessRefused(controllerLease(session));
  if (found === null) return null;
  const { metadata, spec } = parseLease(found);
  const seconds = secondsSince(milliseconds(spec?.renewTime ?? null), session.world.wall());
  return seconds === null ? null : { seconds, namespace: metadata.namespace };
}

/**
 * The flags that the leader publishes, or the built-in defaults. `unknown` is a sentence that says why the controller's
 * flags are not known and what to do; `null` if they are known.
 */
export async function publishedFlags(session: Session) {
  let unknown: string | null = null;
  let annotation: string | undefined;
  try {
    const lease = await controllerLease(session);
    annotation = text(object(object(lease?.['metadata'])['annotations'])[flagsAnnotation]) ?? undefined;
    if (annotation === undefined) unknown = `no Lease ${place.name} contains the flags of the controller`;
  } catch (error) {
    if (!(error instanceof ApiError && error.status !== 0)) throw error;
    unknown = `you may not read the flags of the controller: bind ClusterRole moco-rollout-viewer in namespace ${place.namespace}`;
  }
  return { options: readPublished(annotation), unknown };
}

/**
 * The controller's lease in the namespace of `config/`, otherwise wherever it is installed. `null` if there is none.
 * Rejects with the API server's answer if the session may read neither.
 */
export async function controllerLease(session: Session): Promise<Json | null> {
  const there = await ifAllowed(session.api.read(leases, place, 'read'));
  if (there !== null) return there;
  const found = await listOrNothing(session, leases, null, { fieldSelector: `metadata.name=${place.name}` });
  return found.find(({ metadata }) => object(metadata)['name'] === place.name) ?? null;
}
