import type { PolicyRecord } from '../../api/policy.ts';
import { builtInStrategy } from '../../api/settings.ts';
import type { Dependencies } from '../../controller/observe/dependencies.ts';
import type { StrategySettings } from '../../controller/observe/mode.ts';
import type { DefaultSettings } from '../../controller/observe/settings.ts';
import { defaultPolicy } from '../../core/policy.ts';
import type { World } from '../../kube/world.ts';
import type { ClusterObjects, ClusterRecord } from '../../moco/records.ts';

/** What is known of a cluster before its objects are read by name. */
export const nothingKnown = (cluster: ClusterRecord): ClusterObjects => ({
  cluster,
  statefulSet: null,
  pods: [],
  budgets: [],
  backup: null,
});

export interface DependencyOptions {
  readonly strategies: StrategySettings;
  readonly defaults?: DefaultSettings;
  readonly policies?: readonly PolicyRecord[];
  /** The labels of the cluster's namespace, if they could be read. */
  readonly namespaceLabels?: Readonly<Record<string, string>> | null;
}

/**
 * The dependencies of `collectFacts` outside of the controller. What only the controller knows, the fleet queue and
 * the results of dry runs, is assumed not to block anything.
 */
export function dependenciesOf(
  world: World,
  { strategies, defaults, policies = [], namespaceLabels = null }: DependencyOptions,
): Dependencies {
  return {
    world,
    strategies,
    defaults: defaults ?? { policy: defaultPolicy, strategy: builtInStrategy },
    cache: {
      settingsSources: ({ namespace, labels }) => ({ policies, cluster: { namespace, labels, namespaceLabels } }),
      unavailable: new Map(),
    },
    fleet: { factsFor: () => ({ fleetWaits: [], fleetQueue: null, fleetInterval: null }) },
  };
}
