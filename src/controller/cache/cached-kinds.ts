import { type MySQLRollout, rolloutKind } from '../../api/rollout.ts';
import { policyKind, projectPolicy } from '../../api/rollout-policy.ts';
import { sequenceKind } from '../../api/rollout-sequence.ts';
import { jobs, namespaces, podDisruptionBudgets, pods, type ResourceKind, statefulSets } from '../../kube/resource.ts';
import type { Store, Stored } from '../../kube/store.ts';
import { type Json, object } from '../../moco/json.ts';
import { clusterKind } from '../../moco/names.ts';
import {
  jobSelector,
  memberSelector,
  projectBudget,
  projectCluster,
  projectJob,
  projectNamespace,
  projectPod,
  projectSlimPod,
  projectStatefulSet,
} from '../../moco/projections.ts';
import { partialRecord, type RolloutRecord, wholeRecord } from '../facts/rollout-record.ts';
import { projectSequence } from '../facts/sequence-record.ts';
import type { Cache } from './cache.ts';

/** A kind that decisions need, and where the cache has it. */
export interface CachedKind<R extends Stored> {
  readonly kind: ResourceKind;
  /** Only objects with these labels are needed. */
  readonly labelSelector?: string;
  readonly store: Store<R>;
  readonly project: (raw: Json) => R | null;
}

/** Calls back for each kind that decisions need. Clusters come first, and pods, of which there are most, last. */
export function forEachCachedKind<Result>(
  cache: Cache,
  keepsLivePods: boolean,
  use: <R extends Stored>(cached: CachedKind<R>) => Result,
): readonly Result[] {
  const { clusters, rollouts, policies, sequences, budgets } = cache;
  const labelSelector = memberSelector;
  return [
    use({ kind: clusterKind, store: clusters, project: projectCluster }),
    use({ kind: rolloutKind, store: rollouts, project: (raw) => projectRollout(raw, cache) }),
    use({ kind: statefulSets, labelSelector, store: cache.statefulSets, project: projectStatefulSet }),
    use({ kind: policyKind, store: policies, project: projectPolicy }),
    use({ kind: sequenceKind, store: sequences, project: projectSequence }),
    use({ kind: namespaces, store: cache.namespaces, project: projectNamespace }),
    use({ kind: podDisruptionBudgets, store: budgets, project: projectBudget }),
    use({ kind: jobs, labelSelector: jobSelector, store: cache.jobs, project: projectJob }),
    use({ kind: pods, labelSelector, store: cache.pods, project: keepsLivePods ? projectPod : projectSlimPod }),
  ];
}

/** Clusters are listed first. The MySQLRollout of a cluster that appears later is read by name. */
function projectRollout(raw: Json, { clusters }: Pick<Cache, 'clusters'>): RolloutRecord {
  const rollout = { ...raw, metadata: object(raw['metadata']) } as unknown as MySQLRollout;
  const { namespace, name } = rollout.metadata;
  return clusters.get(namespace, name) === undefined ? partialRecord(rollout) : wholeRecord(rollout);
}
