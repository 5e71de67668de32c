import type { Surroundings } from '../controller/context.ts';
import type { StrategySettings } from '../controller/mode.ts';
import type { PolicyRecord } from '../controller/policy-resource.ts';
import { builtInStrategy, type DefaultWishes } from '../controller/wishes.ts';
import { defaultPolicy } from '../core/policy.ts';
import type { World } from '../kube/world.ts';
import type { ClusterObjects, ClusterRecord } from '../moco/records.ts';

/** What is known of a cluster before it is read by the names that follow from its own. */
export const nothingKnown = (cluster: ClusterRecord): ClusterObjects => ({
  cluster,
  statefulSet: null,
  pods: [],
  budgets: [],
  backup: null,
});

export interface LookOptions {
  readonly strategies: StrategySettings;
  readonly defaults?: DefaultWishes;
  readonly policies?: readonly PolicyRecord[];
  /** Labels of the cluster's namespace, where they could be read. */
  readonly namespaceLabels?: Readonly<Record<string, string>> | null;
}

/**
 * What `gather` needs beside a cluster's objects, for a single look from outside of the controller. What only the
 * controller knows, its place in the fleet and what dry runs have shown it, is taken for good.
 */
export function surroundingsOf(
  world: World,
  { strategies, defaults, policies = [], namespaceLabels = null }: LookOptions,
): Surroundings {
  return {
    world,
    strategies,
    defaults: defaults ?? { policy: defaultPolicy, strategy: builtInStrategy },
    cache: {
      said: ({ namespace, labels }) => ({ policies, cluster: { namespace, labels, namespaceLabels } }),
      unavailable: new Map(),
    },
    fleet: { factsFor: () => ({ fleetQueue: null, fleetInterval: null }) },
  };
}
