import { controllerRevisions } from '../../kube/resource.ts';
import { type Json, object, objects, text, whole } from '../../moco/json.ts';
import { clusterNameLabel } from '../../moco/names.ts';
import { statefulSetName } from '../../moco/projections.ts';
import type { ClusterRecord } from '../../moco/records.ts';
import { listAll } from '../clusters.ts';
import { CommandError } from '../failure.ts';
import type { Session } from '../session.ts';
import { hashOf } from '../status/view.ts';

/** A pod template that Kubernetes still keeps. */
export interface Revision {
  /** As `kubectl rollout history` counts them; the newest has the highest. */
  readonly number: number;
  readonly name: string;
  /** What pods carry, without the StatefulSet's name in front. */
  readonly hash: string;
  readonly createdAt: string;
  readonly template: Json;
}

/** Those of the cluster's StatefulSet, the oldest first. Rejects with `ApiError`. */
export async function revisionsOf(session: Session, { namespace, name }: ClusterRecord): Promise<readonly Revision[]> {
  const stem = statefulSetName(name);
  const labelSelector = `${clusterNameLabel}=${name}`;
  const found = await listAll(session, controllerRevisions, namespace, { labelSelector });
  return found
    .filter(({ metadata }) => {
      // MOCO's re-creation of the StatefulSet leaves revisions without an owner for a moment.
      const owners = objects(object(metadata)['ownerReferences']);
      return owners.length === 0 || owners.some((owner) => owner['kind'] === 'StatefulSet' && owner['name'] === stem);
    })
    .map((raw): Revision => {
      const metadata = object(raw['metadata']);
      const revision = text(metadata['name']) ?? '';
      return {
        number: whole(raw['revision'], 0),
        name: revision,
        hash: hashOf(revision, stem),
        createdAt: text(metadata['creationTimestamp']) ?? '',
        template: object(object(object(raw['data'])['spec'])['template']),
      };
    })
    .toSorted((one, other) => one.number - other.number);
}

/** By its number or its hash. Throws `CommandError` with those that there are. */
export function revisionNamed(revisions: readonly Revision[], wanted: string): Revision {
  const found = revisions.find(({ number, hash, name }) => [String(number), hash, name].includes(wanted));
  if (found) return found;
  const known = revisions.map(({ number, hash }) => `${number} (${hash})`).join(', ') || 'none';
  throw new CommandError(`revision ${wanted} is not kept; there are: ${known}`);
}

/** The one that came before it, or `null`. */
export function revisionBefore(revisions: readonly Revision[], revision: Revision): Revision | null {
  return revisions.findLast(({ number }) => number < revision.number) ?? null;
}
