import type { Surroundings } from '../controller/context.ts';
import type { StrategySettings } from '../controller/mode.ts';
import type { PolicyRecord } from '../controller/policy-resource.ts';
import { builtInStrategy, type DefaultWishes } from '../controller/wishes.ts';
import { defaultPolicy } from '../core/policy.ts';
import { mutatingWebhookConfigurations } from '../kube/resource.ts';
import { Store } from '../kube/store.ts';
import type { World } from '../kube/world.ts';
import type { ClusterObjects, ClusterRecord, WebhookConfigurationRecord } from '../moco/records.ts';

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
  /** `null` where they may not be read. */
  readonly webhookConfigurations?: readonly WebhookConfigurationRecord[] | null;
}

/**
 * What `gather` needs beside a cluster's objects, for a single look from outside of the controller. What only the
 * controller knows, its place in the fleet and the certificate that it serves, is taken for good.
 */
export function surroundingsOf(
  world: World,
  { strategies, defaults, policies = [], namespaceLabels = null, webhookConfigurations = null }: LookOptions,
): Surroundings {
  const configurations = new Store<WebhookConfigurationRecord>({});
  for (const configuration of webhookConfigurations ?? []) configurations.put(configuration);
  return {
    world,
    strategies,
    defaults: defaults ?? { policy: defaultPolicy, strategy: builtInStrategy },
    cache: {
      said: ({ namespace, labels }) => ({ policies, cluster: { namespace, labels, namespaceLabels } }),
      webhookConfigurations: configurations,
      unavailable: new Map(
        webhookConfigurations === null ? [[mutatingWebhookConfigurations.kind, 'Forbidden'] as const] : [],
      ),
    },
    fleet: { factsFor: () => ({ fleetQueue: null, fleetInterval: null }) },
    servedCertificate: () => null,
  };
}
