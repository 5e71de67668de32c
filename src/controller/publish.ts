import { isDeepStrictEqual } from 'node:util';
import type { Decision } from '../core/decision.ts';
import { timestampOf } from '../moco/timestamp.ts';
import type { ClusterState } from './cluster-state.ts';
import type { Context } from './context.ts';
import type { Gathered } from './gather.ts';
import type { RolloutStatus } from './rollout-resource.ts';
import { statusOf } from './status.ts';
import { refreshTemplate } from './template-reading.ts';
import { writeStatus } from './write-status.ts';

/** What changes within this time goes into one write; the intent of a step never waits for it. */
const coalescedMilliseconds = 500;
/** How long numbers and sentences wait that change while rules and verdicts stay. */
const unhurriedMilliseconds = 30_000;

/**
 * Writes the status where it says something new. Resolves to the milliseconds after which that is due, when it is
 * too early for it, else `null`.
 */
export async function publish(
  gathered: Gathered,
  decision: Decision,
  state: ClusterState,
  heldForSeconds: number,
  context: Context,
  signal: AbortSignal,
): Promise<number | null> {
  const { rollout, objects } = gathered;
  const { api, world } = context;
  if (rollout === null || objects.cluster.deleting || rollout.metadata.deletionTimestamp !== undefined) return null;
  await refreshTemplate(gathered, state, api, world, signal);
  const before = rollout.status ?? {};
  const status = statusOf(gathered, decision, state, heldForSeconds, timestampOf(world.wall()), null);
  if (isDeepStrictEqual(status, before)) return null;
  const isUnhurried = isDeepStrictEqual(whatMatters(status), whatMatters(before));
  const waits = isUnhurried ? unhurriedMilliseconds : coalescedMilliseconds;
  const dueIn = state.publishedAtMilliseconds + waits - world.monotonic();
  if (dueIn > 0) return dueIn;
  await writeStatus(context, rollout, status, state, 'status', signal);
  return null;
}

/**
 * The status without what may change by the second while nothing is decided: numbers of members, what each of them is
 * doing, and sentences. All else, such as rules, verdicts and steps, is for somebody who waits for it.
 */
function whatMatters(status: RolloutStatus): object {
  const {
    participatingReplicas: _participating,
    readyReplicas: _ready,
    currentReplicas: _current,
    primary: _primary,
    observedClusterGeneration: _generation,
    hold,
    members = {},
    rollout,
    conditions = [],
    ...rest
  } = status;
  const { lastProgressAt: _progress, ...progress } = rollout ?? {};
  return {
    ...rest,
    hold: hold?.rule,
    members: Object.entries(members).map(([ordinal, { verdict, updated, updatedAt }]) => [
      ordinal,
      verdict,
      updated,
      updatedAt,
    ]),
    rollout: progress,
    conditions: conditions.map(({ type, status: said, reason }) => [type, said, reason]),
  };
}
