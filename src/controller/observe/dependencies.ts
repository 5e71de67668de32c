import type { World } from '../../kube/world.ts';
import type { Cache } from './cache.ts';
import type { Checks } from './checks.ts';
import type { Fleet } from './fleet.ts';
import type { StrategySettings } from './mode.ts';
import type { MysqlContext } from './mysql-facts.ts';
import type { DefaultSettings } from './settings.ts';

/** What observing a cluster needs apart from its objects. */
export interface Dependencies extends Pick<MysqlContext, 'mysql'> {
  readonly cache: Pick<Cache, 'settingsSources' | 'unavailable'>;
  readonly world: World;
  /** The values of the flags, for fields that the user leaves out. */
  readonly defaults: DefaultSettings;
  readonly strategies: StrategySettings;
  readonly fleet: Pick<Fleet, 'factsFor'>;
  readonly checks: Pick<Checks, 'factsFor'>;
}
