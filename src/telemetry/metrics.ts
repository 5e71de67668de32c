import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import { ApiClientMetrics } from './api-client-metrics.ts';
import { CacheMetrics } from './cache-metrics.ts';
import { CheckMetrics } from './check-metrics.ts';
import { FleetMetrics } from './fleet-metrics.ts';
import type { HttpHandler } from './http-server.ts';
import { RolloutMetrics } from './rollout-metrics.ts';
import { WebhookMetrics } from './webhook-metrics.ts';
import { WorkQueueMetrics } from './work-queue-metrics.ts';

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

export interface Metrics {
  readonly apiClient: ApiClientMetrics;
  /** `null` where this process serves no webhook. */
  readonly webhook: WebhookMetrics | null;
  readonly rollouts: RolloutMetrics;
  readonly workQueues: WorkQueueMetrics;
  readonly caches: CacheMetrics;
  readonly fleet: FleetMetrics;
  readonly checks: CheckMetrics;
  readonly registry: Registry;
  /** Serves everything in Prometheus' text format. */
  readonly handler: HttpHandler;
}

/** Each look at the event loop wakes the process: every 10 ms, prom-client's default, that was most of an idle program. */
const eventLoopMilliseconds = 50;

/** Gauges of prom-client that are called totals; the same numbers are there by kind, under names as they should be. */
const misnamed = ['nodejs_active_handles_total', 'nodejs_active_requests_total', 'nodejs_active_resources_total'];

/** All metrics of the program in a registry of their own, the process's defaults included. */
export function createMetrics(
  version: string,
  features: readonly FeatureState[],
  { servesWebhook, drivesPartitions }: Parts,
): Metrics {
  const registry = new Registry();
  const registers = [registry];
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: eventLoopMilliseconds });
  for (const name of misnamed) registry.removeSingleMetric(name);
  new Gauge({
    name: 'moco_rollout_build_info',
    help: 'Always 1; the labels say what is running.',
    labelNames: ['version', 'node_version'],
    registers,
  }).set({ version, node_version: process.version }, 1);
  const enabled = new Gauge({
    name: 'kubernetes_feature_enabled',
    help: 'Whether a feature gate is on (1) or off (0), with its stage.',
    labelNames: ['name', 'stage'],
    registers,
  });
  for (const feature of features) enabled.set({ name: feature.name, stage: feature.stage }, feature.enabled ? 1 : 0);
  return {
    registry,
    apiClient: new ApiClientMetrics(registry),
    webhook: servesWebhook ? new WebhookMetrics(registry) : null,
    rollouts: new RolloutMetrics(registry, drivesPartitions),
    workQueues: new WorkQueueMetrics(registry),
    caches: new CacheMetrics(registry),
    fleet: new FleetMetrics(registry),
    checks: new CheckMetrics(registry),
    handler: async () => ({ status: 200, contentType: registry.contentType, body: await registry.metrics() }),
  };
}
