import { podDisruptionBudgets } from '../../kube/resource.ts';
import { object, whole } from '../../moco/json.ts';
import { selects } from '../../moco/label-selector.ts';
import { appNameLabel, appNameOfMoco, clusterNameLabel, createdByLabel, createdByMoco } from '../../moco/names.ts';
import { projectBudget } from '../../moco/projections.ts';
import { clustersIn, listAll } from '../cluster/clusters.ts';
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
