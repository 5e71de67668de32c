import { ApiError } from '../../kube/api-error.ts';
import type { ClusterRecord } from '../../moco/records.ts';
import { selectedClusters } from '../cluster/selection.ts';
import type { Session } from '../cluster/session.ts';
import { CommandError, explainCommandFailure } from '../failure.ts';

/**
 * Applies `act` to every selected cluster, one after another, and writes its results. A cluster that fails is reported
 * as an error, and the others are still processed. Resolves to the exit status.
 */
export async function forEachCluster(
  session: Session,
  names: readonly string[],
  act: (cluster: ClusterRecord) => Promise<string>,
): Promise<number> {
  const { host } = session;
  const clusters = await selectedClusters(session, names);
  if (clusters.length === 0) throw new CommandError('no MySQLClusters are selected');
  let status = 0;
  for (const cluster of clusters) {
    try {
      host.out(`${cluster.namespace}/${cluster.name}: ${await act(cluster)}\n`);
    } catch (error) {
      const isOfThisCluster = error instanceof CommandError || (error instanceof ApiError && error.status > 0);
      if (!isOfThisCluster) throw error;
      host.err(`${explainCommandFailure(error, session)}\n`);
      status = 1;
    }
  }
  return status;
}
