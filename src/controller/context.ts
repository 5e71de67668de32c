import type { Log } from '../kube/log.ts';
import type { World } from '../kube/world.ts';
import type { Announcer } from './announcer.ts';
import type { Cache } from './cache.ts';
import type { ClusterApi } from './cluster-api.ts';
import type { Fleet } from './fleet.ts';
import type { StrategySettings } from './mode.ts';
import type { DefaultWishes } from './wishes.ts';

/** What a look at one cluster needs beside its objects. */
export interface Surroundings {
  readonly cache: Pick<Cache, 'said' | 'unavailable'>;
  readonly world: World;
  /** The flags' values, for what the user doesn't say. */
  readonly defaults: DefaultWishes;
  readonly strategies: StrategySettings;
  readonly fleet: Pick<Fleet, 'factsFor'>;
}

/** What every pass of this process has at hand. */
export interface Context extends Surroundings {
  readonly cache: Cache;
  readonly fleet: Fleet;
  readonly api: ClusterApi;
  readonly log: Log;
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
