import { type Json, milliseconds, object, text } from '../../base/json.ts';
import { ApiError } from '../../kube/api-error.ts';
import { parseLease } from '../../kube/lease.ts';
import { leases } from '../../kube/resource.ts';
import { flagsAnnotation, readPublished } from '../../options/published.ts';
import { brief, secondsSince } from '../terminal/lines.ts';
import { ifAllowed, listOrNothing, unlessRefused } from './clusters.ts';
import type { Session } from './session.ts';

// What the lease of the controller shows: whether a controller is running, and with which flags.

/** The namespace and name that `config/` gives the controller's lease. */
const place = { namespace: 'moco-rollout-system', name: 'moco-rollout' } as const;

/** Much longer than it takes to renew the lease, or to elect a new leader. */
const longestSilenceSeconds = 60;

/**
 * The time since a controller last renewed the lease, and the namespace of the lease. `seconds` is `null` if several
 * namespaces have such a lease, so that it is unknown which one is the controller's.
 */
export type Silence =
  | { readonly seconds: number; readonly namespace: string }
  | { readonly seconds: null; readonly namespaces: readonly string[] };

const namespaceOf = ({ metadata }: Json): string => text(object(metadata)['namespace']) ?? '';

const ambiguous = (namespaces: readonly string[]): string =>
  `it is unknown which Lease ${place.name} is the controller's: there is one in each of the namespaces ${namespaces.toSorted().join(', ')}, and none in ${place.namespace}`;

/** A message for the user if no controller has renewed the lease for too long; otherwise `null`. */
export function silenceNote(silence: Silence | null): string | null {
  if (silence === null) return null;
  if (silence.seconds === null) return ambiguous(silence.namespaces);
  if (silence.seconds < longestSilenceSeconds) return null;
  return `no controller has renewed its lease for ${brief(silence.seconds)}: no rollout continues until one runs (namespace ${silence.namespace})`;
}

/**
 * When the status last changed, and when the controller last renewed its lease, as a sentence without a full stop. A
 * running controller writes the status only when something changes, so even an old status can be up to date. `null` if
 * neither time is known.
 */
export function ageSentence(statusSeconds: number | null, silence: Silence | null): string | null {
  const parts = [
    ...(statusSeconds === null ? [] : [`the status last changed ${brief(statusSeconds)} ago`]),
    ...(silence === null || silence.seconds === null
      ? []
      : [`the controller last renewed its lease ${brief(silence.seconds)} ago`]),
  ];
  return parts.length === 0 ? null : parts.join('; ');
}

/** Whether a controller holds its lease, in any namespace. */
export async function isLed(session: Session): Promise<boolean> {
  const silence = await leaseSilence(session);
  return silence !== null && silence.seconds !== null && silence.seconds < longestSilenceSeconds;
}

/** `null` if there is no lease, or if the lease cannot be read. */
export async function leaseSilence(session: Session): Promise<Silence | null> {
  const found = (await unlessRefused(leasesOfControllers(session))) ?? [];
  const [first] = found;
  if (first === undefined) return null;
  if (found.length > 1) return { seconds: null, namespaces: found.map(namespaceOf) };
  const { metadata, spec } = parseLease(first);
  const seconds = secondsSince(milliseconds(spec?.renewTime ?? null), session.world.wall());
  return seconds === null ? null : { seconds, namespace: metadata.namespace };
}

/**
 * The flags that the leader publishes, or the built-in defaults if there are none. `unknown` is a sentence that says
 * why the controller's flags are unknown and what to do, or `null` if the flags are known.
 */
export async function publishedFlags(session: Session) {
  let unknown: string | null = null;
  let annotation: string | undefined;
  try {
    const found = await leasesOfControllers(session);
    const [lease] = found.length === 1 ? found : [];
    annotation = text(object(object(lease?.['metadata'])['annotations'])[flagsAnnotation]) ?? undefined;
    if (found.length > 1) unknown = ambiguous(found.map(namespaceOf));
    else if (annotation === undefined) unknown = `no Lease ${place.name} contains the flags of the controller`;
  } catch (error) {
    if (!(error instanceof ApiError && error.status !== 0)) throw error;
    unknown = `you may not read the flags of the controller: bind ClusterRole moco-rollout-viewer in namespace ${place.namespace}`;
  }
  return { options: readPublished(annotation), unknown };
}

/**
 * The controller's lease from the namespace in which `config/` installs it, or else from the only namespace that has
 * one. `null` if there is none, or if several other namespaces have one. Rejects with the API server's answer if the
 * user may not read Leases.
 */
export async function controllerLease(session: Session): Promise<Json | null> {
  const found = await leasesOfControllers(session);
  return found.length === 1 ? (found[0] ?? null) : null;
}

/**
 * The leases that may be the controller's. A user may create a Lease of any name in their own namespace, so if there
 * are several, none of them is trusted.
 */
async function leasesOfControllers(session: Session): Promise<readonly Json[]> {
  const there = await ifAllowed(session.api.read(leases, place, 'read'));
  if (there !== null) return [there];
  const found = await listOrNothing(session, leases, null, { fieldSelector: `metadata.name=${place.name}` });
  return found.filter(({ metadata }) => object(metadata)['name'] === place.name);
}
