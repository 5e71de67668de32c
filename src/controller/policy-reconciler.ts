import { isDeepStrictEqual } from 'node:util';
import { policyKind } from '../api/rollout-policy.ts';
import { timestampOf } from '../base/json.ts';
import type { World } from '../base/world.ts';
import { isConflict, isNotFound } from '../kube/api-error.ts';
import type { RunResult } from '../kube/work-queue.ts';
import type { Cache } from '../objects/cache.ts';
import type { StatusClient } from '../objects/status-client.ts';
import { policyStatuses } from './facts/policy-standing.ts';

export interface PolicyContext {
  readonly cache: Cache;
  readonly apiFor: (signal: AbortSignal) => Pick<StatusClient, 'replaceStatus'>;
  readonly world: Pick<World, 'wall' | 'monotonic'>;
  readonly isLeading: () => boolean;
}

/** The shortest time between two passes. It bounds the work when many clusters change at once. */
const intervalMilliseconds = 1000;

/** Writes the statuses of all MySQLRolloutPolicies in one pass. No cluster depends on these statuses. */
export class PolicyReconciler {
  readonly #context: PolicyContext;
  #lastAt = Number.NEGATIVE_INFINITY;

  constructor(context: PolicyContext) {
    this.#context = context;
  }

  /** Rejects if the API server does not respond or refuses a status; the work queue retries. */
  async reconcile(signal: AbortSignal): Promise<RunResult> {
    const { cache, apiFor, world, isLeading } = this.#context;
    if (!isLeading()) return {};
    const inMilliseconds = this.#lastAt + intervalMilliseconds - world.monotonic();
    if (inMilliseconds > 0) return { requeueAfterMilliseconds: inMilliseconds };
    this.#lastAt = world.monotonic();
    const policies = [...cache.policies.values()];
    const clusters = [...cache.clusters.values()].filter(({ deleting }) => !deleting);
    const governed = clusters.map((cluster) => ({
      ...cache.settingsSources(cluster),
      rollout: cache.rollouts.get(cluster.namespace, cluster.name)?.object.spec,
      replicas: cluster.replicas,
    }));
    const statuses = policyStatuses(policies, governed, timestampOf(world.wall()));
    for (const policy of policies) {
      const status = statuses.get(policy.name);
      if (status === undefined || isDeepStrictEqual(status, policy.status)) continue;
      try {
        await apiFor(signal).replaceStatus(policyKind, policy, { status });
      } catch (error) {
        // The policy has changed, and its watch event follows; or the CRD is an older one without a status.
        if (!isConflict(error) && !isNotFound(error)) throw error;
      }
    }
    return {};
  }
}
