import { persistentVolumeClaims } from '../../kube/resource.ts';
import { isTerminating } from '../../moco/claims.ts';
import { object, text } from '../../moco/json.ts';
import { memberSelector } from '../../moco/projections.ts';
import { listAll } from './clusters.ts';
import type { Session } from './session.ts';

/**
 * The claims of members whose deletion has been requested, as `namespace/name`. The StatefulSet controller gives claims
 * the labels of its selector. Rejects with `ApiError`.
 */
export async function endingClaims(session: Session, namespace: string | null): Promise<readonly string[]> {
  const claims = await listAll(session, persistentVolumeClaims, namespace, { labelSelector: memberSelector });
  return claims.filter(isTerminating).map(({ metadata }) => {
    const of = object(metadata);
    return `${text(of['namespace'])}/${text(of['name'])}`;
  });
}
