import { timestampOf } from '../../base/json.ts';
import { decide } from '../../core/decide.ts';
import type { Decision } from '../../core/decision.ts';
import { isAtLeast } from '../../kube/raw-object.ts';
import { splitKey } from '../../kube/store.ts';
import { Ages } from '../../moco/ages.ts';
import type { LiveObjects } from '../../objects/cluster-reader.ts';
import { writesSeen } from '../facts/contention.ts';
import { unseen } from '../facts/last-step.ts';
import type { Answers } from '../questions/questions.ts';
import { collectFacts, type ObservedFacts } from './collect-facts.ts';
import { firstSeen, revisionSeen } from './first-seen.ts';
import type { Memory } from './memory.ts';
import type { Pass } from './pass.ts';

// Observes a cluster: facts from objects, memory and clock, and the decision that follows. It is pure.

/** The facts about a cluster at one moment, the decision, and the cluster's memory, including what was just seen. */
export interface Observation extends ObservedFacts {
  readonly decision: Decision;
  readonly memory: Memory;
  /** How long the current hold has lasted, in seconds. */
  readonly heldForSeconds: number;
  readonly now: string;
  /** The time of the observation on the monotonic clock. */
  readonly nowMilliseconds: number;
}

/** Observes a cluster from freshly read objects and the given answers. Such objects show all writes of this process. */
export const observeLive = (pass: Pass, live: LiveObjects, answers: Answers = pass.memory.answers): Observation =>
  observe({ ...pass, memory: { ...pass.memory, answers } }, live, [], pass.memory.unseen);

/**
 * Observes a cluster from the cache. The MySQLRollout may come from a write of this process. `null` if the cache has no
 * such cluster.
 */
export function observeCached(pass: Pass): Observation | null {
  const { key, memory, context } = pass;
  const objects = context.cache.objects(key);
  if (objects === null) return null;
  const rollout = newestRollout(pass);
  const writes = unseen(memory.unseen.writes, objects, context.world.monotonic());
  return observe(pass, { objects, rollout }, writes, {
    writes,
    rollout: rollout === memory.unseen.rollout ? rollout : null,
  });
}

/** Changes nothing. `awaited` contains the writes of this process that the objects do not show yet. */
function observe(
  { memory, context }: Pass,
  { objects, rollout }: LiveObjects,
  awaited: Memory['unseen']['writes'],
  left: Memory['unseen'],
): Observation {
  const { world } = context;
  const [now, nowMilliseconds] = [timestampOf(world.wall()), world.monotonic()];
  const { statefulSet } = objects;
  const seen = {
    ...memory.seen,
    ages: new Ages(world, memory.seen.ages),
    updateRevision: revisionSeen(memory.seen.updateRevision, statefulSet?.updateRevision ?? '', world),
    specWrites: writesSeen(memory.seen.specWrites, statefulSet, nowMilliseconds),
  };
  const known = { ...memory, seen };
  const facts = collectFacts(objects, rollout, { ...known, unseen: { ...left, writes: awaited } }, context);
  const decision = decide(facts.snapshot, facts.policy);
  const after = { ...seen, policies: facts.knownPolicies, ...firstSeen(facts, decision, known, now, nowMilliseconds) };
  const { holding } = after;
  const holds = decision.hold !== null && holding !== null;
  const heldForSeconds = holds ? (nowMilliseconds - holding.sinceMilliseconds) / 1000 : 0;
  return { ...facts, decision, memory: { ...known, seen: after, unseen: left }, heldForSeconds, now, nowMilliseconds };
}

/** The cached MySQLRollout, unless this process wrote a newer one. */
export function newestRollout({ key, memory, context }: Pass): LiveObjects['rollout'] {
  const cached = context.cache.rollouts.get(...splitKey(key))?.object ?? null;
  const own = memory.unseen.rollout;
  if (cached === null || own === null || own.metadata.uid !== cached.metadata.uid) return cached;
  return isAtLeast(cached.metadata.resourceVersion, own.metadata.resourceVersion) ? cached : own;
}
