import { controllerRevisions } from '../../kube/resource.ts';
import { type Json, object, objects, text, whole } from '../../moco/json.ts';
import { clusterNameLabel } from '../../moco/names.ts';
import { revisionHash, statefulSetName } from '../../moco/projections.ts';
import type { ClusterRecord } from '../../moco/records.ts';
import { templateOf } from '../../moco/template-changes.ts';
import { CommandError } from '../failure.ts';
import { listAll } from './clusters.ts';
import type { Session } from './session.ts';

/** A pod template that Kubernetes still keeps. */
export interface Revision {
  /** The number that `kubectl rollout history` shows; the newest revision has the highest. */
  readonly number: number;
  readonly name: string;
  /** The value of the pods' label, without the name of the StatefulSet in front. */
  readonly hash: string;
  readonly createdAt: string;
  readonly template: Json;
}

/** The revisions of the cluster's StatefulSet, the oldest first. Rejects with `ApiError`. */
export async function revisionsOf(session: Session, { namespace, name }: ClusterRecord): Promise<readonly Revision[]> {
  const stem = statefulSetName(name);
  const labelSelector = `${clusterNameLabel}=${name}`;
  const found = await listAll(session, controllerRevisions, namespace, { labelSelector });
  return found
    .filter(({ metadata }) => {
      // While MOCO re-creates the StatefulSet, revisions have no owner for a moment.
      const owners = objects(object(metadata)['ownerReferences']);
      return owners.length === 0 || owners.some((owner) => owner['kind'] === 'StatefulSet' && owner['name'] === stem);
    })
    .map((raw): Revision => {
      const metadata = object(raw['metadata']);
      const revisionName = text(metadata['name']) ?? '';
      return {
        number: whole(raw['revision'], 0),
        name: revisionName,
        hash: revisionHash(revisionName, name),
        createdAt: text(metadata['creationTimestamp']) ?? '',
        template: templateOf(raw),
      };
    })
    .toSorted((one, other) => one.number - other.number);
}

/** Finds a revision by its number or hash. Throws `CommandError` with the existing ones. */
export function revisionNamed(revisions: readonly Revision[], wanted: string): Revision {
  const found = revisions.find(({ number, hash, name }) => [String(number), hash, name].includes(wanted));
  if (found) return found;
  const known = revisions.map(({ number, hash }) => `${number} (${hash})`).join(', ') || 'none';
  throw new CommandError(`revision ${wanted} is not kept; there are: ${known}`);
}

/** The previous revision, or `null`. */
export function revisionBefore(revisions: readonly Revision[], revision: Revision): Revision | null {
  return revisions.findLast(({ number }) => number < revision.number) ?? null;
}
