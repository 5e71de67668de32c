import type { EventRecorder } from '../../kube/event-recorder.ts';
import type { Log } from '../../kube/world.ts';
import type { RolloutMetrics } from '../../telemetry/rollout-metrics.ts';
import type { Cache } from '../observe/cache.ts';
import type { Dependencies } from '../observe/dependencies.ts';
import type { Fleet } from '../observe/fleet.ts';
import type { StatusClient } from './status-client.ts';

/** What reporting needs apart from an observation. */
export interface ReportContext extends Dependencies {
  readonly cache: Cache;
  readonly fleet: Fleet;
  readonly api: StatusClient;
  readonly log: Log;
  readonly recorder: Pick<EventRecorder, 'record'>;
  readonly metrics: RolloutMetrics;
}
