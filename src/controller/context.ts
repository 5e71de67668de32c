import type { RolloutPolicy } from '../core/policy.ts';
import type { Log } from '../kube/log.ts';
import type { World } from '../kube/world.ts';
import type { Announcer } from './announcer.ts';
import type { Cache } from './cache.ts';
import type { ClusterApi } from './cluster-api.ts';

/** What every pass of this process has at hand. */
export interface Context {
  readonly cache: Cache;
  readonly api: ClusterApi;
  readonly world: World;
  readonly log: Log;
  /** The flags' values, for what the user doesn't say. */
  readonly defaults: RolloutPolicy;
  readonly announcer: Announcer;
  /** Names this process in intents; another one for each start. */
  readonly holder: string;
  /** No write is started once this says false. */
  readonly isLeading: () => boolean;
}

/** What the work queue is told: when to run the key again although nothing has changed. */
export interface Requeue {
  readonly requeueAfterMilliseconds?: number;
}
