import { type Json, object, whole } from '../../base/json.ts';
import { explainAltered } from '../../core/sentences.ts';
import { persistentVolumeClaims, podDisruptionBudgets, statefulSets } from '../../kube/resource.ts';
import { nameOf } from '../../kube/store.ts';
import { alteredFields } from '../../moco/applied-fields.ts';
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
import { ownerKey } from '../../objects/cache.ts';
import { clustersIn, keyIn, listAll, listEach } from '../cluster/clusters.ts';
import type { Session } from '../cluster/session.ts';
import { type Found, failed, ok } from './finding.ts';

// Checks objects beside the members that can block or harm a rollout: budgets, claims, manifests.

/** A budget that allows no disruption even if all the pods that it selects are healthy. */
export async function budgets(session: Session): Promise<Found> {
  const clusters = await clustersIn(session, session.namespace);
  const blocking = (await listAll(session, podDisruptionBudgets, session.namespace)).flatMap((raw) => {
    const budget = projectBudget(raw);
    const expected = whole(object(raw['status'])['expectedPods'], 0);
    const isBlocking = budget !== null && (budget.closed || (expected > 0 && budget.desiredHealthy >= expected));
    if (!isBlocking) return [];
    return clusters
      .filter(({ namespace, name }) => namespace === budget.namespace && selects(budget.selector, labelsOfPods(name)))
      .map((cluster) => `${nameOf(budget)} (cluster ${cluster.name})`);
  });
  return blocking.length === 0
    ? ok(`none blocks any of ${clusters.length} clusters forever`)
    : failed(`these never allow a disruption: ${blocking.join(', ')}; raise their maxUnavailable`);
}

const labelsOfPods = (cluster: string): Readonly<Record<string, string>> => ({
  [appNameLabel]: appNameOfMoco,
  [clusterNameLabel]: cluster,
  [createdByLabel]: createdByMoco,
});

/** Claims that exist only because running pods use them. */
export async function claims(session: Session): Promise<Found> {
  // The StatefulSet controller gives claims the labels of its selector.
  const query = { labelSelector: memberSelector };
  const all = await listAll(session, persistentVolumeClaims, session.namespace, query);
  const ending = all.filter(isTerminating).map(keyIn).join(', ');
  if (ending === '') return ok('no claim of a member is being deleted');
  const sentence = `these are being deleted, and deleting their pods destroys the data: ${ending}`;
  return failed(`${sentence}; drain no node of them, and see \`${session.host.program} explain ClaimTerminating\``);
}

/** MySQLClusters whose StatefulSet MOCO writes several times a second while it is not adopted (cybozu-go/moco#782). */
export async function manifests(session: Session): Promise<Found> {
  const found = await listAll(session, clusterKind, session.namespace);
  const clusters = new Map(found.map((raw) => [keyIn(raw), raw]));
  const query = { labelSelector: memberSelector };
  const all = await listEach(session, statefulSets, session.namespace, query, (raw) => alteredIn(raw, clusters));
  const [adopted = [], left = []] = [true, false].map((wanted) =>
    all.flatMap((one) => (one?.adopted === wanted ? [one.sentence] : [])),
  );
  if (left.length > 0) {
    return failed(
      `MOCO writes the StatefulSets of these several times a second, and may restart a member many times in a rollout: ${left.join('; ')}; correct these fields, or adopt the clusters`,
    );
  }
  return ok(
    adopted.length === 0
      ? `MOCO leaves the StatefulSets of ${clusters.size} clusters alone while nothing changes`
      : `MOCO would write the StatefulSets of these several times a second if they were released: ${adopted.join('; ')}`,
  );
}

/** The MySQLCluster with its namespace, and how the API server alters its fields, if it does. */
function alteredIn(raw: Json, clusters: ReadonlyMap<string, Json>) {
  const statefulSet = projectStatefulSet(raw);
  if (statefulSet === null) return null;
  const name = ownerKey(statefulSet);
  const cluster = clusters.get(name);
  const fields = cluster === undefined ? [] : alteredFields(cluster, raw);
  if (fields.length === 0) return null;
  return { sentence: `${name}: the API server ${explainAltered(fields)}`, adopted: statefulSet.labelled };
}
