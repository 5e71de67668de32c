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
import { memberSelector, projectBudget, projectStatefulSet, statefulSetName } from '../../moco/projections.ts';
import { selects } from '../../moco/selects.ts';
import { isTerminating } from '../../moco/successor.ts';
import { ownerKey } from '../../objects/cache.ts';
import { clustersIn, keyIn, listAll, listEach } from '../cluster/clusters.ts';
import type { Session } from '../cluster/session.ts';
import { type Found, failed, ok } from './finding.ts';

// Checks objects other than the members that can block or harm a rollout: budgets, claims, manifests.

/**
 * Budgets that allow no disruption even if all the pods that they select are healthy, and budgets besides MOCO's own:
 * the eviction API refuses a pod that several budgets select.
 */
export async function budgets(session: Session): Promise<Found> {
  const clusters = await clustersIn(session, session.namespace);
  const all = (await listAll(session, podDisruptionBudgets, session.namespace)).flatMap((raw) => {
    const budget = projectBudget(raw);
    if (budget === null) return [];
    const expected = whole(object(raw['status'])['expectedPods'], 0);
    return [{ budget, isBlocking: budget.closed || (expected > 0 && budget.desiredHealthy >= expected) }];
  });
  const found = clusters.map(({ namespace, name }) => {
    const own = all.filter(
      ({ budget }) => budget.namespace === namespace && selects(budget.selector, labelsOfPods(name)),
    );
    const describe = ({ budget }: (typeof own)[number]): string => {
      const isForeign = budget.name !== statefulSetName(name);
      return `${nameOf(budget)} (cluster ${name}${isForeign && budget.whose !== null ? `, of ${budget.whose}` : ''})`;
    };
    const foreign = own.filter(({ budget }) => budget.name !== statefulSetName(name));
    return {
      blocking: own.filter(({ isBlocking }) => isBlocking).map(describe),
      beside: own.length > 1 ? foreign.map(describe) : [],
    };
  });
  const [blocking, beside] = [found.flatMap((one) => one.blocking), found.flatMap((one) => one.beside)];
  const problems = [
    ...(blocking.length === 0
      ? []
      : [`these never allow a disruption: ${blocking.join(', ')}; raise their maxUnavailable`]),
    ...(beside.length === 0
      ? []
      : [
          `these select members beside another budget, and Kubernetes evicts no pod that several select: ${beside.join(', ')}; delete them`,
        ]),
  ];
  return problems.length === 0
    ? ok(`none blocks any of ${clusters.length} clusters forever`)
    : failed(problems.join('; '));
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
