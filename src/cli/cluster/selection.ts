import { type MySQLRollout, rolloutKind } from '../../api/rollout.ts';
import { UsageError } from '../../failure.ts';
import type { ClusterRecord } from '../../moco/records.ts';
import { clusterNamed, clustersIn, listIfThere, rolloutOf } from './clusters.ts';
import type { Session } from './session.ts';

export interface ClusterAndRollout {
  readonly cluster: ClusterRecord;
  readonly rollout: MySQLRollout | null;
}

/**
 * The clusters that are named, that the label selector selects, or with `--all` every cluster of the scope. Throws
 * `UsageError` without any of these, or if names are combined with another one.
 */
export async function selectedClusters(session: Session, names: readonly string[]): Promise<readonly ClusterRecord[]> {
  const { namespace, selector } = session;
  requireSelection(session, names);
  return names.length > 0 ? namedClusters(session, names) : clustersIn(session, namespace, selector);
}

export const namedClusters = (session: Session, names: readonly string[]): Promise<readonly ClusterRecord[]> =>
  Promise.all([...new Set(names)].map((name) => clusterNamed(session, name)));

/** Throws `UsageError` unless exactly one of names, a label selector and `--all` is given. */
export function requireSelection(session: Session, names: readonly string[]): void {
  const { selector, given } = session;
  refuseNamesAndMore(session, names);
  if (names.length > 0) return;
  if (given['all'] !== true && selector === undefined) {
    throw new UsageError('expected a NAME, --selector or --all, got none of them');
  }
  if (given['all'] === true && selector !== undefined) {
    throw new UsageError('expected either --selector or --all, got both');
  }
}

/**
 * The clusters that are named, or all of the scope that the label selector selects, with their MySQLRollouts; sorted.
 */
export async function listedClusters(
  session: Session,
  names: readonly string[],
): Promise<readonly ClusterAndRollout[]> {
  refuseNamesAndMore(session, names);
  if (names.length > 0) {
    return Promise.all(
      [...new Set(names)].map(async (name) => {
        const cluster = await clusterNamed(session, name);
        return { cluster, rollout: await rolloutOf(session, cluster) };
      }),
    );
  }
  const [clusters, rollouts] = await Promise.all([
    clustersIn(session, session.namespace, session.selector),
    listIfThere(session, rolloutKind, session.namespace) as Promise<readonly unknown[] | null>,
  ]);
  const known = new Map((rollouts as readonly MySQLRollout[] | null)?.map((one) => [keyOf(one.metadata), one]));
  return clusters
    .toSorted((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1))
    .map((cluster) => ({ cluster, rollout: known.get(keyOf(cluster)) ?? null }));
}

const keyOf = ({ namespace, name }: Pick<ClusterRecord, 'namespace' | 'name'>): string => `${namespace}/${name}`;

function refuseNamesAndMore({ namespace, selector, given }: Session, names: readonly string[]): void {
  if (names.length === 0) return;
  const extra =
    selector !== undefined ? '--selector' : given['all'] === true ? '--all' : namespace === null ? '-A' : '';
  if (extra !== '') throw new UsageError(`expected either names or ${extra}, got both`);
}
