import { policyKind, projectPolicy } from '../../api/policy.ts';
import { rolloutKind } from '../../api/rollout.ts';
import { sequenceKind } from '../../api/sequence.ts';
import { Cache } from '../../controller/observe/cache.ts';
import { projectSequence } from '../../controller/observe/sequence-record.ts';
import { isForbidden } from '../../kube/api-error.ts';
import {
  cronJobs,
  namespaces,
  podDisruptionBudgets,
  pods,
  type ResourceKind,
  statefulSets,
} from '../../kube/resource.ts';
import type { Store, Stored } from '../../kube/store.ts';
import type { Json } from '../../moco/json.ts';
import {
  createdBySelector,
  memberSelector,
  projectBackup,
  projectBudget,
  projectNamespace,
  projectPod,
  projectStatefulSet,
} from '../../moco/projections.ts';
import { clustersIn, listAll, listIfThere } from './clusters.ts';
import type { Session } from './session.ts';
import { projectRollout } from './watch-clusters.ts';

/** The objects of all clusters, as the controller's cache has them. */
export interface FleetObjects {
  readonly cache: Cache;
  /** Kinds that the user may not read and that are left out. */
  readonly unread: readonly string[];
}

/** Lists every kind that a decision needs once, in all namespaces. Rejects with `ApiError` or `CommandError`. */
export async function readFleet(session: Session): Promise<FleetObjects> {
  const cache = new Cache();
  const unread: string[] = [];
  const read = async <R extends Stored>(
    kind: ResourceKind,
    store: Store<R>,
    project: (raw: Json) => R | null,
    labelSelector?: string,
  ): Promise<void> => {
    const list = kind.group === sequenceKind.group ? listIfThere : listAll;
    const found = await list(session, kind, null, labelSelector === undefined ? {} : { labelSelector });
    for (const raw of found ?? []) {
      const record = project(raw);
      if (record !== null) store.put(record);
    }
  };
  const orLeaveOut = async (reading: Promise<void>, { plural }: ResourceKind): Promise<void> => {
    try {
      await reading;
    } catch (error) {
      if (!isForbidden(error)) throw error;
      unread.push(plural);
    }
  };
  for (const cluster of await clustersIn(session, null)) cache.clusters.put(cluster);
  await Promise.all([
    read(rolloutKind, cache.rollouts, projectRollout),
    read(statefulSets, cache.statefulSets, projectStatefulSet, memberSelector),
    read(pods, cache.pods, projectPod, memberSelector),
    read(sequenceKind, cache.sequences, projectSequence),
    orLeaveOut(read(policyKind, cache.policies, projectPolicy), policyKind),
    orLeaveOut(read(podDisruptionBudgets, cache.budgets, projectBudget), podDisruptionBudgets),
    orLeaveOut(read(cronJobs, cache.backups, projectBackup, createdBySelector), cronJobs),
    orLeaveOut(read(namespaces, cache.namespaces, projectNamespace), namespaces),
  ]);
  return { cache, unread: unread.toSorted() };
}
