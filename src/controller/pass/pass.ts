import type { Log, World } from '../../base/world.ts';
import type { ApiClient } from '../../kube/api-client.ts';
import type { EventRecorder } from '../../kube/event-recorder.ts';
import type { Cache } from '../../objects/cache.ts';
import type { ClusterReader } from '../../objects/cluster-reader.ts';
import type { RolloutMetrics } from '../../telemetry/rollout-metrics.ts';
import type { Fleet } from '../fleet/fleet-limits.ts';
import type { Sources } from '../questions/asking.ts';
import type { Dependencies } from './collect-facts.ts';
import type { Memory } from './memory.ts';

export interface Context extends Omit<Dependencies, 'cache' | 'checks' | 'mysql'>, Sources {
  readonly cache: Cache;
  readonly fleet: Fleet;
  readonly client: ApiClient;
  readonly world: World;
  readonly log: Log;
  readonly recorder: Pick<EventRecorder, 'record'>;
  readonly metrics: RolloutMetrics;
  /** The holder identity of this process in intents. Each start has a new one. */
  readonly holder: string;
  /**
   * How long after its confirmation began a step may still be sent. A confirmation that is too old is repeated, which
   * makes the API server busier still (docs/decisions/0023).
   */
  readonly confirmationTimeoutMilliseconds: number;
  /** No write is started once this returns false. */
  readonly isLeading: () => boolean;
}

/** One pass over one cluster. What a part of the pass may request is in the type of its `api`. */
export interface Pass<Api extends ClusterReader = ClusterReader> {
  /** `namespace/name`. */
  readonly key: string;
  readonly memory: Memory;
  readonly signal: AbortSignal;
  /** The signal cancels its requests. */
  readonly api: Api;
  readonly context: Context;
}
