import type { EventRecorder } from '../../kube/event-recorder.ts';
import type { Log, World } from '../../kube/world.ts';
import type { RolloutMetrics } from '../../telemetry/rollout-metrics.ts';
import type { Cache } from '../cache/cache.ts';
import type { Dependencies } from '../facts/collect-facts.ts';
import type { Fleet } from '../fleet/fleet-limits.ts';
import type { StatusClient } from './status-client.ts';

/** What reporting needs apart from an observation. */
export interface ReportContext extends Dependencies {
  readonly world: World;
  readonly cache: Cache;
  readonly fleet: Fleet;
  readonly api: StatusClient;
  readonly log: Log;
  readonly recorder: Pick<EventRecorder, 'record'>;
  readonly metrics: RolloutMetrics;
}
