import PQueue from 'p-queue';
import { type MySQLRollout, rolloutKind } from '../../api/rollout.ts';
import { UsageError } from '../../failure.ts';
import { ApiError } from '../../kube/api-error.ts';
import { statefulSets } from '../../kube/resource.ts';
import { byName, nameOf } from '../../kube/store.ts';
import { memberSelector, strategyLabel, strategyOnDelete } from '../../moco/names.ts';
import { projectStatefulSet } from '../../moco/projections.ts';
import type { ClusterRecord } from '../../moco/records.ts';
import { ownerKey } from '../../objects/cache.ts';
import { CommandError, explainCommandFailure } from '../command-error.ts';
import { clusterNamed, clustersIfThere, clustersIn, keyIn, listOrNothing, rolloutOf } from './clusters.ts';
import type { Session } from './session.ts';

// Selects the clusters that a command acts on, and runs the command on each of them.

export interface ClusterAndRollout {
  readonly cluster: ClusterRecord;
  readonly rollout: MySQLRollout | null;
}

/**
 * The named clusters, or the clusters that match the label selector; with `--all`, all clusters in scope. Throws
 * `UsageError` if none of these is given, or if names are combined with a selector or `--all`.
 */
export async function selectedClusters(session: Session, names: readonly string[]): Promise<readonly ClusterRecord[]> {
  requireSelection(session, names);
  return names.length > 0 ? namedClusters(session, names) : clustersIn(session, session.namespace, session.selector);
}

const namedClusters = (session: Session, names: readonly string[]): Promise<readonly ClusterRecord[]> =>
  Promise.all([...new Set(names)].map((name) => clusterNamed(session, name)));

/** Throws `UsageError` unless exactly one of names, a label selector and `--all` is given. */
export function requireSelection(session: Session, names: readonly string[]): void {
  const { selector, all } = session;
  refuseNamesAndMore(session, names);
  if (names.length > 0) return;
  if (!all && selector === undefined) {
    throw new UsageError('expected a NAME, --selector or --all, got none of them');
  }
  if (all && selector !== undefined) {
    throw new UsageError('expected either --selector or --all, got both');
  }
}

/**
 * The named clusters in the given order or, without names, all clusters in scope that match the label selector, sorted
 * by name. Each comes with its MySQLRollout.
 */
export async function listedClusters(
  session: Session,
  names: readonly string[],
): Promise<readonly ClusterAndRollout[]> {
  refuseNamesAndMore(session, names);
  if (names.length > 0) {
    const clusters = await namedClusters(session, names);
    return Promise.all(clusters.map(async (cluster) => ({ cluster, rollout: await rolloutOf(session, cluster) })));
  }
  const [clusters, rollouts] = await Promise.all([
    clustersIn(session, session.namespace, session.selector),
    listOrNothing(session, rolloutKind, session.namespace),
  ]);
  const known = new Map(rollouts.map((raw) => [keyIn(raw), raw as unknown as MySQLRollout]));
  return clusters.toSorted(byName).map((cluster) => ({ cluster, rollout: known.get(nameOf(cluster)) ?? null }));
}

function refuseNamesAndMore({ allNamespaces, selector, all }: Session, names: readonly string[]): void {
  if (names.length === 0) return;
  const extra = selector !== undefined ? '--selector' : all ? '--all' : allNamespaces ? '-A' : '';
  if (extra !== '') throw new UsageError(`expected either names or ${extra}, got both`);
}

/** Applies `act` to every selected cluster, one after another, and writes the results. Resolves to the exit status. */
export async function forEachCluster(
  session: Session,
  names: readonly string[],
  act: (cluster: ClusterRecord) => Promise<string>,
): Promise<number> {
  const clusters = await selectedClusters(session, names);
  if (clusters.length === 0) throw new CommandError('no MySQLClusters are selected');
  return forEachOf(session, clusters, 1, async (cluster) => `${nameOf(cluster)}: ${await act(cluster)}`);
}

/**
 * Applies `act` to up to `concurrency` clusters at a time, and writes the results in order. If one cluster fails, the
 * error is reported and the other clusters are still processed. Resolves to the exit status.
 */
export async function forEachOf(
  session: Session,
  clusters: readonly ClusterRecord[],
  concurrency: number,
  act: (cluster: ClusterRecord) => Promise<string>,
): Promise<number> {
  const { host } = session;
  const isOfOneCluster = (error: unknown): boolean =>
    error instanceof CommandError || (error instanceof ApiError && error.status > 0);
  const queue = new PQueue({ concurrency });
  const begin = async (cluster: ClusterRecord): Promise<string> => {
    try {
      return await act(cluster);
    } catch (error) {
      // The queue must be cleared here, before it starts the next cluster.
      if (!isOfOneCluster(error)) queue.clear();
      throw error;
    }
  };
  const results = clusters.map((cluster) => queue.add(() => begin(cluster)));
  // Prevents unhandled rejections. The loop below awaits the results in order.
  for (const result of results) result.catch(() => undefined);
  let status = 0;
  for (const result of results) {
    try {
      host.out(`${await result}\n`);
    } catch (error) {
      if (!isOfOneCluster(error)) throw error;
      host.err(`${explainCommandFailure(error, session)}\n`);
      status = 1;
    }
  }
  return status;
}

/**
 * The clusters to release: the named ones, or those that `--selector` or `--all` select. With one of these options, the
 * result is limited to clusters with a labelled StatefulSet and clusters without the release annotation. A controller
 * with the feature gate might still adopt a cluster without that annotation. `orphans` are labelled StatefulSets
 * without a MySQLCluster, which the garbage collector deletes. Throws `UsageError`.
 */
export async function releaseTargets(session: Session, names: readonly string[]) {
  requireSelection(session, names);
  const { namespace, selector } = session;
  if (names.length > 0) return { clusters: await namedClusters(session, names), orphans: [] };
  const labelSelector = `${memberSelector},${strategyLabel}=${strategyOnDelete}`;
  const [found, all] = await Promise.all([
    listOrNothing(session, statefulSets, namespace, { labelSelector }),
    clustersIfThere(session, namespace, selector).then((clusters) => clusters ?? []),
  ]);
  const records = found.map(projectStatefulSet).filter((one) => one !== null);
  const labelled = new Set(records.map(ownerKey));
  const known = new Set(all.map(nameOf));
  const clusters = all.filter(
    (cluster) => labelled.has(nameOf(cluster)) || !cluster.released || cluster.rolloutComplete !== null,
  );
  // A selector applies to MySQLClusters, so it cannot match a StatefulSet without a MySQLCluster.
  return { clusters, orphans: selector === undefined ? [...labelled].filter((key) => !known.has(key)) : [] };
}
