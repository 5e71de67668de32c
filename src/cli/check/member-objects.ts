import { explainAltered } from '../../core/sentences.ts';
import { persistentVolumeClaims, podDisruptionBudgets, statefulSets } from '../../kube/resource.ts';
import { alteredFields } from '../../moco/applied-fields.ts';
import { type Json, object, whole } from '../../moco/json.ts';
import {
  appNameLabel,
  appNameOfMoco,
  clusterKind,
  clusterNameLabel,
  createdByLabel,
  createdByMoco,
} from '../../moco/names.ts';
import { memberSelector, projectBudget, projectStatefulSet } from '../../moco/projections.ts';
import { selects } from '../../moco/selects.ts';
import { isTerminating } from '../../moco/successor.ts';
import { clustersIn, keyIn, listAll, listEach } from '../cluster/clusters.ts';
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
async function endingClaims(session: Session, namespace: string | null): Promise<readonly string[]> {
  const claims = await listAll(session, persistentVolumeClaims, namespace, { labelSelector: memberSelector });
  return claims.filter(isTerminating).map(keyIn);
}

interface Altered {
  /** The MySQLCluster with its namespace, and what the API server does with its fields. */
  readonly sentence: string;
  readonly adopted: boolean;
}

/**
 * MySQLClusters of which MOCO writes the StatefulSet several times a second, unless it is adopted (cybozu-go/moco#782).
 */
export const manifests: Check = {
  about: 'manifests',
  find: async (session) => {
    const found = await listAll(session, clusterKind, session.namespace);
    const clusters = new Map(found.map((raw) => [keyIn(raw), raw]));
    const altered = (
      await listEach(session, statefulSets, session.namespace, { labelSelector: memberSelector }, (raw) =>
        alteredIn(raw, clusters),
      )
    ).filter((one) => one !== null);
    const left = altered.filter(({ adopted }) => !adopted);
    if (left.length > 0) {
      return failed(
        `MOCO writes the StatefulSets of these several times a second, and may restart a member many times in a rollout: ${sentencesOf(left)}; correct these fields, or adopt the clusters`,
      );
    }
    return ok(
      altered.length === 0
        ? `MOCO leaves the StatefulSets of ${clusters.size} clusters alone while nothing changes`
        : `MOCO would write the StatefulSets of these several times a second if they were released: ${sentencesOf(altered)}`,
    );
  },
};

const sentencesOf = (altered: readonly Altered[]): string => altered.map(({ sentence }) => sentence).join('; ');

function alteredIn(raw: Json, clusters: ReadonlyMap<string, Json>): Altered | null {
  const statefulSet = projectStatefulSet(raw);
  if (statefulSet === null) return null;
  const name = `${statefulSet.namespace}/${statefulSet.clusterName}`;
  const cluster = clusters.get(name);
  const fields = cluster === undefined ? [] : alteredFields(cluster, raw);
  if (fields.length === 0) return null;
  return { sentence: `${name}: the API server ${explainAltered(fields)}`, adopted: statefulSet.labelled };
}
