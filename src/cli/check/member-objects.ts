import { persistentVolumeClaims, podDisruptionBudgets } from '../../kube/resource.ts';
import { object, text, whole } from '../../moco/json.ts';
import { appNameLabel, appNameOfMoco, clusterNameLabel, createdByLabel, createdByMoco } from '../../moco/names.ts';
import { memberSelector, projectBudget } from '../../moco/projections.ts';
import { selects } from '../../moco/selects.ts';
import { isTerminating } from '../../moco/successor.ts';
import { clustersIn, listAll } from '../cluster/clusters.ts';
import type { Session } from '../cluster/session.ts';
import { type Check, failed, ok } from './finding.ts';

/** A budget that allows no disruption even if every pod that it selects is healthy. */
export const budgets: Check = {
  about: 'PodDisruptionBudgets',
  find: async (session) => {
    const clusters = await clustersIn(session, session.namespace);
    const blocking = (await listAll(session, podDisruptionBudgets, session.namespace)).flatMap((raw) => {
      const budget = projectBudget(raw);
      const expected = whole(object(raw['status'])['expectedPods'], 0);
      const isBlocking = budget !== null && (budget.closed || (expected > 0 && budget.desiredHealthy >= expected));
      if (!isBlocking) return [];
      return clusters
        .filter(({ namespace, name }) => namespace === budget.namespace && selects(budget.selector, labelsOfPods(name)))
        .map((cluster) => `${budget.namespace}/${budget.name} (cluster ${cluster.name})`);
    });
    return blocking.length === 0
      ? ok(`none blocks one of ${clusters.length} clusters for ever`)
      : failed(`these never allow a disruption: ${blocking.join(', ')}; raise their maxUnavailable`);
  },
};

const labelsOfPods = (cluster: string): Readonly<Record<string, string>> => ({
  [appNameLabel]: appNameOfMoco,
  [clusterNameLabel]: cluster,
  [createdByLabel]: createdByMoco,
});

/** Claims that only their running pods keep. */
export const claims: Check = {
  about: 'PersistentVolumeClaims',
  find: async (session) => {
    const ending = await endingClaims(session, session.namespace);
    return ending.length === 0
      ? ok('none of a member is being deleted')
      : failed(
          `these are being deleted, and the end of their pods destroys the data: ${ending.join(', ')}; drain no node of them, and see \`${session.host.program} explain ClaimTerminating\``,
        );
  },
};

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
