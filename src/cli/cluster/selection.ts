import PQueue from 'p-queue';
import { type MySQLRollout, rolloutKind } from '../../api/rollout.ts';
import { UsageError } from '../../failure.ts';
import { ApiError } from '../../kube/api-error.ts';
import { statefulSets } from '../../kube/resource.ts';
import { byName, nameOf } from '../../kube/store.ts';
import { strategyLabel, strategyOnDelete } from '../../moco/names.ts';
import { memberSelector, projectStatefulSet } from '../../moco/projections.ts';
import type { ClusterRecord } from '../../moco/records.ts';
import { ownerKey } from '../../objects/cache.ts';
import { CommandError, explainCommandFailure } from '../command-error.ts';
import { clusterNamed, clustersIfThere, clustersIn, keyIn, listOrNothing, rolloutOf } from './clusters.ts';
import type { Session } from './session.ts';

// Which clusters a command acts on, and how it acts on many of them.

export interface ClusterAndRollout {
  readonly cluster: ClusterRecord;
  readonly rollout: MySQLRollout | null;
}

/**
 * The clusters that are named, that the label selector selects, or, with `--all`, every cluster in scope. Throws
 * `UsageError` if none of these is given, or if names are combined with another one.
 */
export async function selectedClusters(session: Session, names: readonly string[]): Promise<readonly ClusterRecord[]> {
  const { namespace, selector } = session;
  requireSelection(session, names);
  return names.length > 0 ? namedClusters(session, names) : clustersIn(session, namespace, selector);
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
 * The clusters that are named, or all clusters of the scope that the label selector selects, with their MySQLRollouts;
 * sorted.
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

function refuseNamesAndMore({ namespace, selector, all }: Session, names: readonly string[]): void {
  if (names.length === 0) return;
  const extra = selector !== undefined ? '--selector' : all ? '--all' : namespace === null ? '-A' : '';
  if (extra !== '') throw new UsageError(`expected either names or ${extra}, got both`);
}

/** Applies `act` to every selected cluster, one after another, and writes its results. Resolves to the exit status. */
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
 * Applies `act` to this many clusters at a time, and writes the results in order. A cluster that fails is reported as
 * an error, and the others are still processed. Resolves to the exit status.
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
      // Runs before the queue begins the next cluster.
      if (!isOfOneCluster(error)) queue.clear();
      throw error;
    }
  };
  const results = clusters.map((cluster) => queue.add(() => begin(cluster)));
  // Each is awaited below, in order.
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
 * The clusters to release: those that are named, or those that `--selector` or `--all` select. Without names these are
 * clusters with a labelled StatefulSet and those without the annotation, since a controller with the feature gate might
 * still adopt them. `orphans` are labelled StatefulSets without a MySQLCluster: the garbage collector deletes them.
 * Throws `UsageError`.
 */
export async function releaseTargets(session: Session, names: readonly string[]) {
  const { namespace, selector } = session;
  requireSelection(session, names);
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
  // A selector selects MySQLClusters: for a StatefulSet without one it is unknown whether it would match.
  return { clusters, orphans: selector === undefined ? [...labelled].filter((key) => !known.has(key)) : [] };
}
