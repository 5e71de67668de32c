import type { Log, World } from '../../base/world.ts';
import type { Standings } from '../../evictions/standings.ts';
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
  /** The identity of this process in intents. It is new at each start. */
  readonly holder: string;
  /**
   * How long after the start of its confirmation a step may still be sent. An older confirmation is repeated, which
   * adds load to the API server (docs/decisions/0023).
   */
  readonly confirmationTimeoutMilliseconds: number;
  /** For each requested eviction, whether the member may go. */
  readonly standings: Pick<Standings, 'note'>;
  /** No write is started once this returns false. */
  readonly isLeading: () => boolean;
}

/** One pass over one cluster. The type of `api` limits which requests the code that gets this pass may send. */
export interface Pass<Api extends ClusterReader = ClusterReader> {
  /** `namespace/name`. */
  readonly key: string;
  readonly memory: Memory;
  readonly signal: AbortSignal;
  /** The client for this pass. The signal cancels its requests. */
  readonly api: Api;
  readonly context: Context;
}
