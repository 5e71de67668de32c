import { path } from '../../kube/resource.ts';
import { clusterKind, releasedAnnotation } from '../../moco/names.ts';
import type { ClusterRecord } from '../../moco/records.ts';
import type { Session } from './session.ts';

/**
 * Sets the annotation that the controller obeys, or removes it, with the rights of the user. Resolves to whether that
 * was a change. Rejects with `ApiError`, with 409 if another MySQLCluster has that name now.
 */
export async function setReleased(
  { client, signal }: Session,
  { namespace, name, uid, released }: ClusterRecord,
  wanted: boolean,
): Promise<boolean> {
  if (released === wanted) return false;
  await client.call({
    method: 'PATCH',
    path: path(clusterKind, { namespace, name }),
    query: { fieldManager: 'moco-rollout-cli-release' },
    contentType: 'application/merge-patch+json',
    body: { metadata: { uid, annotations: { [releasedAnnotation]: wanted ? 'true' : null } } },
    priority: 'status',
    signal,
  });
  return true;
}
