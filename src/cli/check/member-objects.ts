import { type Json, object, whole } from '../../base/json.ts';
import { counted, explainAltered } from '../../core/sentences.ts';
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
  memberSelector,
  statefulSetName,
} from '../../moco/names.ts';
import { projectBudget, projectStatefulSet } from '../../moco/projections.ts';
import { selects } from '../../moco/selects.ts';
import { isTerminating } from '../../moco/successor.ts';
import { ownerKey } from '../../objects/cache.ts';
import { clustersIn, keyIn, listAll, listEach, listOrNothing } from '../cluster/clusters.ts';
import type { Session } from '../cluster/session.ts';
import { type Found, failed, ok } from './finding.ts';

// Checks objects that can block or harm a rollout, except the members: budgets, claims and manifests.

/**
 * Checks for budgets that allow no disruption even if all their pods are healthy, for budgets with pods that Kubernetes
 * cannot count, and for budgets besides MOCO's own. The eviction API refuses to evict a pod that several budgets
 * select.
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
      return `${nameOf(budget)} (cluster ${name}${isForeign && budget.whose !== null ? `, ${budget.whose}` : ''})`;
    };
    const foreign = own.filter(({ budget }) => budget.name !== statefulSetName(name));
    return {
      blocking: own.filter(({ isBlocking }) => isBlocking).map(describe),
      uncounted: own
        .filter(({ budget }) => budget.syncFailure !== undefined)
        .map((one) => `${describe(one)}: ${one.budget.syncFailure}`),
      beside: own.length > 1 ? foreign.map(describe) : [],
    };
  });
  const [blocking, beside] = [found.flatMap((one) => one.blocking), found.flatMap((one) => one.beside)];
  const uncounted = found.flatMap((one) => one.uncounted);
  const problems = [
    ...(blocking.length === 0
      ? []
      : [`these never allow a disruption: ${blocking.join(', ')}; raise their maxUnavailable`]),
    ...(uncounted.length === 0
      ? []
      : [
          `Kubernetes cannot count the pods of these, and allows no disruption: ${uncounted.join('; ')}; remove the labels of members from pods that are none`,
        ]),
    ...(beside.length === 0
      ? []
      : [
          `these select members beside another budget, and Kubernetes evicts no pod that several select: ${beside.join(', ')}; their owners have to delete them or narrow their selectors`,
        ]),
  ];
  return problems.length === 0
    ? ok(`none blocks any of ${counted(clusters.length, 'cluster')} forever`)
    : failed(problems.join('; '));
}

const labelsOfPods = (cluster: string): Readonly<Record<string, string>> => ({
  [appNameLabel]: appNameOfMoco,
  [clusterNameLabel]: cluster,
  [createdByLabel]: createdByMoco,
});

/** Checks for claims that are being deleted and exist only because running pods use them. */
export async function claims(session: Session): Promise<Found> {
  // Claims have these labels too: the StatefulSet controller copies them from the selector of the StatefulSet.
  const query = { labelSelector: memberSelector };
  const all = await listAll(session, persistentVolumeClaims, session.namespace, query);
  const ending = all.filter(isTerminating).map(keyIn).join(', ');
  if (ending === '') return ok('no claim of a member is being deleted');
  const sentence = `these are being deleted, and deleting their pods destroys the data: ${ending}`;
  return failed(`${sentence}; do not drain their nodes, and see \`${session.host.program} explain ClaimTerminating\``);
}

/**
 * Checks for MySQLClusters with fields that make MOCO write the StatefulSet several times a second. Adopting a cluster
 * prevents this (cybozu-go/moco#782).
 */
export async function manifests(session: Session): Promise<Found> {
  const found = await listOrNothing(session, clusterKind, session.namespace);
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
      ? `MOCO leaves the StatefulSets of ${counted(clusters.size, 'cluster')} alone while nothing changes`
      : `MOCO would write the StatefulSets of these several times a second if they were released: ${adopted.join('; ')}`,
  );
}

/**
 * A sentence that names the MySQLCluster and says how the API server alters its fields, and whether the cluster is
 * adopted. `null` if no field is altered.
 */
function alteredIn(raw: Json, clusters: ReadonlyMap<string, Json>) {
  const statefulSet = projectStatefulSet(raw);
  if (statefulSet === null) return null;
  const name = ownerKey(statefulSet);
  const cluster = clusters.get(name);
  const fields = cluster === undefined ? [] : alteredFields(cluster, raw);
  if (fields.length === 0) return null;
  return { sentence: `${name}: the API server ${explainAltered(fields)}`, adopted: statefulSet.labelled };
}
