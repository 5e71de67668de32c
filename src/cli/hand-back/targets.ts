import { type MySQLRollout, rolloutKind } from '../../controller/rollout-resource.ts';
import { UsageError } from '../../failure.ts';
import { statefulSets } from '../../kube/resource.ts';
import type { Json } from '../../moco/json.ts';
import { clusterKind, strategyLabel, strategyOnDelete } from '../../moco/names.ts';
import { memberSelector, projectCluster, projectStatefulSet } from '../../moco/projections.ts';
import type { ClusterRecord } from '../../moco/records.ts';
import { clusterNamed, listIfThere } from '../clusters.ts';
import type { Session } from '../session.ts';

/** Who is to be handed back. */
export interface Targets {
  readonly clusters: readonly ClusterRecord[];
  /** The kind MySQLRollout is there, and with it a place for markers. */
  readonly hasRollouts: boolean;
  /** Labelled StatefulSets whose MySQLCluster is gone: the garbage collector has them. */
  readonly orphans: readonly string[];
}

/**
 * Those that are named, or all of the namespace, or all there are: whoever has a labelled StatefulSet, and whoever a
 * controller with the gate on might still take, as no marker keeps it from that.
 */
export async function findTargets(session: Session, names: readonly string[]): Promise<Targets> {
  const { namespace, namespaceGiven } = session;
  if (names.length === 0 && namespace !== null && !namespaceGiven) {
    throw new UsageError('expected a NAME, -n NAMESPACE for all clusters of a namespace, or --all, got none of them');
  }
  if (names.length > 0 && namespace === null) throw new UsageError('expected either names or --all, got both');
  const [labelled, rollouts, raw] = await Promise.all([
    labelledStatefulSets(session, namespace),
    listIfThere(session, rolloutKind, namespace),
    names.length > 0 ? [] : listIfThere(session, clusterKind, namespace),
  ]);
  const hasRollouts = rollouts !== null;
  if (names.length > 0) {
    const clusters = await Promise.all([...new Set(names)].map((name) => clusterNamed(session, name)));
    return { clusters, hasRollouts, orphans: [] };
  }
  const all = (raw ?? []).map(projectCluster).filter((cluster) => cluster !== null);
  const known = new Set(all.map(keyOf));
  const marked = new Set(
    rollouts?.filter(isMarked).map((rollout) => keyOf((rollout as unknown as MySQLRollout).metadata)),
  );
  const clusters = all.filter(
    (cluster) => labelled.has(keyOf(cluster)) || (hasRollouts && !marked.has(keyOf(cluster))),
  );
  return { clusters, hasRollouts, orphans: [...labelled].filter((key) => !known.has(key)) };
}

const keyOf = ({ namespace, name }: { readonly namespace: string; readonly name: string }): string =>
  `${namespace}/${name}`;

/** Whether it still holds is for the one look at each cluster; one that may have ended is looked at as well. */
function isMarked(raw: Json): boolean {
  const rollout = raw as unknown as MySQLRollout;
  const { handedBack } = rollout.status ?? {};
  return handedBack !== undefined && handedBack.generation === (rollout.metadata.generation ?? 0);
}

/** The clusters whose StatefulSets carry our label. */
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
