import { statefulSets } from '../../kube/resource.ts';
import { clusterKind, strategyLabel, strategyOnDelete } from '../../moco/names.ts';
import { memberSelector, projectCluster, projectStatefulSet } from '../../moco/projections.ts';
import type { ClusterRecord } from '../../moco/records.ts';
import { listIfThere } from './clusters.ts';
import { namedClusters, requireSelection } from './selection.ts';
import type { Session } from './session.ts';

/** The clusters to release. */
export interface Targets {
  readonly clusters: readonly ClusterRecord[];
  /** Labelled StatefulSets without a MySQLCluster: the garbage collector deletes them. */
  readonly orphans: readonly string[];
}

/**
 * The clusters that are named, or those that `--selector` or `--all` select. Without names: those with a labelled
 * StatefulSet, and those without the annotation, since a controller with the feature gate might still adopt them.
 * Throws `UsageError`.
 */
export async function findTargets(session: Session, names: readonly string[]): Promise<Targets> {
  const { namespace, selector } = session;
  requireSelection(session, names);
  if (names.length > 0) return { clusters: await namedClusters(session, names), orphans: [] };
  const [labelled, raw] = await Promise.all([
    labelledStatefulSets(session, namespace),
    listIfThere(session, clusterKind, namespace, selector === undefined ? {} : { labelSelector: selector }),
  ]);
  const all = (raw ?? []).map(projectCluster).filter((cluster) => cluster !== null);
  const known = new Set(all.map(keyOf));
  const clusters = all.filter((cluster) => labelled.has(keyOf(cluster)) || !cluster.released);
  // A selector selects MySQLClusters: without one, nobody knows whether it would.
  return { clusters, orphans: selector === undefined ? [...labelled].filter((key) => !known.has(key)) : [] };
}

const keyOf = ({ namespace, name }: { readonly namespace: string; readonly name: string }): string =>
  `${namespace}/${name}`;

/** The clusters whose StatefulSets have our label. */
async function labelledStatefulSets(session: Session, namespace: string | null): Promise<ReadonlySet<string>> {
  const labelSelector = `${memberSelector},${strategyLabel}=${strategyOnDelete}`;
  const found = (await listIfThere(session, statefulSets, namespace, { labelSelector })) ?? [];
  return new Set(
    found
      .map(projectStatefulSet)
      .filter((statefulSet) => statefulSet !== null)
      .map((statefulSet) => keyOf({ namespace: statefulSet.namespace, name: statefulSet.clusterName })),
  );
}
