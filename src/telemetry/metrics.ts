import { collectDefaultMetrics, Registry } from 'prom-client';
import { Declared } from './declared.ts';
import { FleetMetrics } from './fleet-metrics.ts';
import type { HttpHandler } from './http-server.ts';
import { RolloutMetrics } from './rollout-metrics.ts';
import { ApiClientMetrics, CacheMetrics, CheckMetrics, WebhookMetrics, WorkQueueMetrics } from './runtime-metrics.ts';

class ProgramMetrics extends Declared {
  readonly build = this.gauge(
    'moco_rollout_build_info',
    'Always 1; the labels say what is running.',
    'version',
    'node_version',
  );
  readonly features = this.gauge(
    'kubernetes_feature_enabled',
    'Whether a feature gate is on (1) or off (0), with its stage.',
    'name',
    'stage',
  );
}

/** A feature gate as Kubernetes' own metric shows it. */
export interface FeatureState {
  readonly name: string;
  readonly stage: string;
  readonly enabled: boolean;
}

/** What is only shown where there is one. */
export interface Parts {
  readonly servesWebhook: boolean;
  readonly drivesPartitions: boolean;
}

export type Metrics = ReturnType<typeof createMetrics>;

/**
 * Each look at the event loop wakes the process: every 10 ms, prom-client's default, that was most of an idle program.
 */
const eventLoopMilliseconds = 50;

/** Gauges of prom-client that are called totals; the same numbers are there by kind, under names as they should be. */
const misnamed = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total'];

/** All metrics of the program in a registry of their own, the process's defaults included. */
export function createMetrics(
  version: string,
  features: readonly FeatureState[],
  { servesWebhook, drivesPartitions }: Parts,
) {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: eventLoopMilliseconds });
  for (const name of misnamed) registry.removeSingleMetric(name);
  const declared = new ProgramMetrics(registry);
  declared.build.set({ version, node_version: process.version }, 1);
  for (const feature of features)
    declared.features.set({ name: feature.name, stage: feature.stage }, feature.enabled ? 1 : 0);
  return {
    registry,
    apiClient: new ApiClientMetrics(registry),
    // `null` where this process serves no webhook.
    webhook: servesWebhook ? new WebhookMetrics(registry) : null,
    rollouts: new RolloutMetrics(registry, drivesPartitions),
    workQueues: new WorkQueueMetrics(registry),
    caches: new CacheMetrics(registry),
    fleet: new FleetMetrics(registry),
    checks: new CheckMetrics(registry),
    /** Serves everything in Prometheus' text format. */
    handler: (async () => ({
      status: 200,
      contentType: registry.contentType,
      body: await registry.metrics(),
    })) satisfies HttpHandler as HttpHandler,
  };
}
