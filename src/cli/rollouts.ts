import { type MySQLRollout, rolloutKind } from '../controller/rollout-resource.ts';
import { ApiError, isAlreadyExists, isNotFound } from '../kube/api-error.ts';
import type { ClusterRecord } from '../moco/records.ts';
import { find } from './clusters.ts';
import { CommandError } from './failure.ts';
import type { Session } from './session.ts';

/** The MySQLRollout of a cluster; a missing one is made as the controller makes it. Rejects with `ApiError`. */
export async function findOrMakeRollout(session: Session, cluster: ClusterRecord): Promise<MySQLRollout> {
  const { api, signal, server } = session;
  const found = (await find(session, rolloutKind, cluster.namespace, cluster.name)) as MySQLRollout | null;
  if (found !== null) return found;
  try {
    return await api.createRollout(cluster, signal);
  } catch (error) {
    if (error instanceof ApiError && isAlreadyExists(error)) return findOrMakeRollout(session, cluster);
    if (!isNotFound(error)) throw error;
    throw new CommandError(`there is no kind ${rolloutKind.kind} on ${server}: is moco-rollout installed?`);
  }
}
