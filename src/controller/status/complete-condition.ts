import { type Json, milliseconds, object, whole } from '../../base/json.ts';
import { isRoutine } from '../../core/rules/catalogue.ts';
import { rolloutCompleteCondition } from '../../moco/names.ts';
import { projectCluster } from '../../moco/projections.ts';
import type { ClusterRecord } from '../../moco/records.ts';
import { mostTries, type StatusClient } from '../../objects/status-client.ts';
import { type Observation, observeLive } from '../pass/observe.ts';
import type { Pass } from '../pass/pass.ts';
import { rememberSeen } from '../pass/remember.ts';
import { shownHold } from './due.ts';

// The condition `moco-rollout.io/RolloutComplete` of the MySQLCluster, which tools wait for.

/** The reason of a False condition while no hold needs attention. */
const rollingOut = 'RollingOut';

/** How long MOCO may take to restore a template that somebody else has changed. */
const foreignTemplateMilliseconds = 10_000;

/**
 * Milliseconds before a cluster without stale members may be called complete. A new update revision that every member
 * already has may come from a `kubectl rollout undo`, which MOCO is about to revert. That is impossible if members were
 * replaced for the revision.
 */
function unsettledMilliseconds({ rollout, objects, snapshot, memory, nowMilliseconds }: Observation): number {
  const revision = objects.statefulSet?.updateRevision;
  const { updateRevision, rollout: progress, history } = rollout?.status ?? {};
  const last = history?.at(-1);
  if (updateRevision === undefined || progress?.revision === revision) return 0;
  const { updateRevision: seen } = memory.seen;
  const changed = seen?.value === revision ? (seen?.changed ?? null) : null;
  if (last?.revision === revision && last?.outcome === 'Complete') {
    const finishedAt = milliseconds(last.finishedAt) ?? 0;
    if (changed === null || changed.wallMilliseconds <= finishedAt) return 0;
  }
  const reportedSeconds = updateRevision === revision ? snapshot.memory.recentRevisions.at(-1)?.ageSeconds : 0;
  const ages = [
    ...(reportedSeconds === undefined ? [] : [reportedSeconds * 1000]),
    ...(changed === null ? [] : [nowMilliseconds - changed.atMilliseconds]),
  ];
  return Math.max(0, ...ages.map((age) => foreignTemplateMilliseconds - age));
}

export interface Completion {
  readonly complete: boolean;
  /** `RolloutComplete`, `RollingOut`, or the rule that holds the rollout. */
  readonly reason: string;
  /** Whether the rollout waits only briefly, for something that ends by itself. */
  readonly brief: boolean;
  /** How long until a cluster without stale members may be called complete. */
  readonly unsettledMilliseconds: number;
}

export function completionOf(observation: Observation): Completion {
  const { complete, hold } = observation.decision;
  const unsettled = complete ? unsettledMilliseconds(observation) : 0;
  const shown = shownHold(observation);
  return {
    complete: complete && unsettled === 0,
    reason: complete && unsettled === 0 ? 'RolloutComplete' : shown && !isRoutine(shown.rule) ? shown.rule : rollingOut,
    brief: hold !== null && shown === null,
    unsettledMilliseconds: unsettled,
  };
}

export const isDue = (cluster: ClusterRecord, completion: Completion): boolean =>
  differs(cluster, completion) && !canWait(cluster, completion);

/** An absent condition is equivalent to False. True must have the current generation, which `kubectl wait` compares. */
export function differs({ rolloutComplete, generation }: ClusterRecord, { complete, reason }: Completion): boolean {
  if (complete) return rolloutComplete?.status !== true || rolloutComplete.observedGeneration !== generation;
  return rolloutComplete !== null && (rolloutComplete.status || rolloutComplete.reason !== reason);
}

/**
 * Whether the present condition cannot mislead anyone who waits for this generation, and the current step or wait ends
 * by itself.
 */
function canWait({ rolloutComplete, generation }: ClusterRecord, { complete, brief }: Completion): boolean {
  const isOlder = rolloutComplete !== null && rolloutComplete.observedGeneration !== generation;
  return !complete && isOlder && brief;
}

export function withCondition(
  conditions: readonly Json[],
  { complete, reason }: Completion,
  generation: number,
  nowTimestamp: string,
): readonly Json[] {
  const index = conditions.findIndex((condition) => condition['type'] === rolloutCompleteCondition);
  const before = conditions[index];
  const status = complete ? 'True' : 'False';
  const condition = {
    type: rolloutCompleteCondition,
    status,
    reason,
    message: complete
      ? 'every member is at the newest revision and has participated for minReadySeconds'
      : 'not every member is at the newest revision and has participated for minReadySeconds',
    observedGeneration: generation,
    lastTransitionTime: before?.['status'] === status ? before['lastTransitionTime'] : nowTimestamp,
  };
  return index < 0 ? [...conditions, condition] : conditions.with(index, condition);
}

/**
 * Maintains condition `moco-rollout.io/RolloutComplete` of the MySQLCluster, for `kubectl wait` and GitOps tools. It is
 * written only when its status or its reason changes, since every write makes MOCO reconcile. The reason of False names
 * the hold that needs attention, if there is one.
 *
 * True is confirmed like a step, and never written from the cache. The MySQLCluster is read first, so a StatefulSet
 * that is read after it contains what MOCO had applied for that generation. Its resourceVersion is the precondition.
 * False needs no fresh read: the next reconciliation corrects a wrong one. A True of an older generation no longer has
 * a meaning, so it is not removed at once: while MOCO and Kubernetes process a change, another write would conflict
 * with theirs and delay the first member.
 *
 * The decision is made again from what was read: a StatefulSet that is written several times a second never stays the
 * same until a decision from the cache (`simulation/contention`).
 *
 * If MOCO keeps writing in between, the reconciliation after its writes continues.
 *
 * A cluster that a person has released has no such condition: nobody would keep it correct once this program is
 * uninstalled.
 */
export async function writeCompletion(
  { completion, observation }: { readonly completion: Completion; readonly observation: Observation },
  pass: Pass<StatusClient>,
): Promise<void> {
  const { objects: known, now } = observation;
  const { api } = pass;
  if (known.cluster.released) {
    await api.removeCompletion(known.cluster);
    return;
  }
  if (!isDue(known.cluster, completion)) return;
  await api.changeConditions(known.cluster, completion.complete ? mostTries : 1, async (raw, conditions) => {
    if (object(raw['metadata'])['deletionTimestamp'] !== undefined) return null;
    const live = completion.complete ? await api.readAll(known) : null;
    if (completion.complete && live === null) return null;
    const judged = live === null ? completion : completionOf(rememberSeen(pass.memory, observeLive(pass, live)));
    const cluster = live?.objects.cluster ?? projectCluster(raw);
    if (cluster === null || cluster.released || !differs(cluster, judged)) return null;
    return withCondition(conditions, judged, whole(object(raw['metadata'])['generation'], 0), now);
  });
}
