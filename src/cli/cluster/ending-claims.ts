import { ApiError } from '../../kube/api-error.ts';
import { persistentVolumeClaims } from '../../kube/resource.ts';
import { isTerminating } from '../../moco/claims.ts';
import { object, text } from '../../moco/json.ts';
import { clusterNameLabel } from '../../moco/names.ts';
import { memberSelector } from '../../moco/projections.ts';
import type { ClusterRecord } from '../../moco/records.ts';
import { listAll } from './clusters.ts';
import type { Session } from './session.ts';

/**
 * The claims of members whose deletion has been requested, as `namespace/name`. The StatefulSet controller gives claims
 * the labels of its selector. Rejects with `ApiError`.
 */
export async function endingClaims(
  session: Session,
  namespace: string | null,
  cluster?: string,
): Promise<readonly string[]> {
  const ofOne = cluster === undefined ? [] : [`${clusterNameLabel}=${cluster}`];
  const labelSelector = [memberSelector, ...ofOne].join(',');
  const claims = await listAll(session, persistentVolumeClaims, namespace, { labelSelector });
  return claims.filter(isTerminating).map(({ metadata }) => {
    const of = object(metadata);
    return `${text(of['namespace'])}/${text(of['name'])}`;
  });
}

/** What the end of a pod would destroy, for the details of a cluster. Empty if claims can't be read. */
export async function claimNotes(
  session: Session,
  { namespace, name }: Pick<ClusterRecord, 'namespace' | 'name'>,
): Promise<readonly string[]> {
  try {
    const ending = await endingClaims(session, namespace, name);
    return ending.map(
      (claim) => `the claim ${claim} is being deleted: the end of its pod destroys its data (ClaimTerminating)`,
    );
  } catch (error) {
    if (error instanceof ApiError && error.status !== 0) return [];
    throw error;
  }
}
