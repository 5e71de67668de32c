import type { MySQLRollout } from '../../api/rollout.ts';
import type { PolicyRecord } from '../../api/rollout-policy.ts';
import { decide } from '../../core/decide.ts';
import type { Decision } from '../../core/decision.ts';
import { isAtLeast } from '../../kube/raw-object.ts';
import { splitKey } from '../../kube/store.ts';
import { timestampOf } from '../../moco/json.ts';
import type { ClusterObjects } from '../../moco/records.ts';
import { type Cache } from '../cache/cache.ts';
import { collectFacts, type Dependencies, type ObservedFacts } from '../facts/collect-facts.ts';
import type { ClusterState, Memory } from '../memory/cluster-memory.ts';
import { noteFirstSeen, noteObjects } from './first-seen.ts';

/** The facts about a cluster at one moment, the decision, and what was remembered of the cluster then. */
export interface Observation extends ObservedFacts {
  readonly decision: Decision;
  readonly memory: Memory;
  /** How long the current hold has lasted, in seconds. */
  readonly heldForSeconds: number;
  readonly now: string;
  /** The time of the observation on the monotonic clock. */
  readonly nowMilliseconds: number;
}

/**
 * Observes a cluster from its objects, the memory and the clock. Apart from this function, only `remember` changes the
 * memory.
 */
export function observe(
  objects: ClusterObjects,
  rollout: MySQLRollout | null,
  state: ClusterState,
  dependencies: Dependencies,
  source: 'live' | 'cached',
  policies?: readonly PolicyRecord[],
): Observation {
  const { world } = dependencies;
  noteObjects(objects, source, state, world);
  const facts = collectFacts(objects, rollout, state, dependencies, source, policies);
  const decision = decide(facts.snapshot, facts.policy);
  const now = timestampOf(world.wall());
  const nowMilliseconds = world.monotonic();
  noteFirstSeen(facts, decision, state, now, nowMilliseconds);
  const { holding } = state;
  const holds = decision.hold !== null && holding !== null;
  const heldForSeconds = holds ? (nowMilliseconds - holding.sinceMilliseconds) / 1000 : 0;
  return { ...facts, decision, memory: copyOf(state), heldForSeconds, now, nowMilliseconds };
}

/** A copy that does not change with the memory. */
const copyOf = (state: ClusterState): Memory => Object.freeze(Object.assign({}, state));

/** The MySQLRollout from the cache or from an own write. `null` if there is no such cluster. */
export function observeCached(
  key: string,
  state: ClusterState,
  dependencies: Dependencies & { readonly cache: Cache },
): Observation | null {
  const { cache } = dependencies;
  const objects = cache.objects(key);
  if (objects === null) return null;
  const rollout = newestRollout(key, state, cache);
  // The cache has this MySQLRollout or a newer one.
  if (rollout !== state.rollout) state.rollout = null;
  return observe(objects, rollout, state, dependencies, 'cached');
}

/** The cached MySQLRollout, unless this process wrote a newer one. */
export function newestRollout(
  key: string,
  state: ClusterState,
  { rollouts }: Pick<Cache, 'rollouts'>,
): MySQLRollout | null {
  const cached = rollouts.get(...splitKey(key))?.object ?? null;
  const own = state.rollout;
  if (cached === null || own === null || own.metadata.uid !== cached.metadata.uid) return cached;
  return isAtLeast(cached.metadata.resourceVersion, own.metadata.resourceVersion) ? cached : own;
}
