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

/** The reason of the condition while it is False and no hold needs attention. */
const rollingOut = 'RollingOut';

/** If another client changes a template, MOCO restores it within this time. */
const foreignTemplateMilliseconds = 10_000;

/**
 * How long to wait before a cluster without stale members may be called complete, in milliseconds. If every member
 * already has a new update revision, the revision may come from a `kubectl rollout undo`, and MOCO is about to revert
 * it. If members were replaced for the revision, it does not come from there.
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
  /** Whether the rollout waits only briefly, for something that happens without help. */
  readonly brief: boolean;
  /** How long to wait before a cluster without stale members may be called complete. */
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

/**
 * If there is no condition, that means False. A condition that is True must carry the current observedGeneration,
 * because `kubectl wait` compares it with the object's generation.
 */
export function differs({ rolloutComplete, generation }: ClusterRecord, { complete, reason }: Completion): boolean {
  if (complete) return rolloutComplete?.status !== true || rolloutComplete.observedGeneration !== generation;
  return rolloutComplete !== null && (rolloutComplete.status || rolloutComplete.reason !== reason);
}

/**
 * Whether the write can wait. It can if the current condition cannot mislead a client that waits for this generation,
 * and the current step or hold ends without help.
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
 * Maintains the condition `moco-rollout.io/RolloutComplete` of the MySQLCluster, for `kubectl wait` and GitOps tools.
 * It is written only when its status or its reason changes, because every write makes MOCO reconcile. While it is
 * False, the reason names the hold that needs attention, if there is one.
 *
 * Before True is written, everything is read again, as before a step. The MySQLCluster is read first, so the
 * StatefulSet, which is read after it, contains everything that MOCO had applied for that generation. The
 * resourceVersion of the MySQLCluster is the precondition. False needs no fresh read, because the next reconciliation
 * corrects a wrong False. If True was written for an older generation, it means nothing and is not removed at once:
 * while MOCO and Kubernetes process a change, a write would conflict with their writes and delay the first member.
 *
 * The decision is made again from the objects that were read. If another client writes the StatefulSet several times a
 * second, a decision from the cache would always be outdated (`simulation/contention`).
 *
 * If MOCO writes between the read and the write, the reconciliation that follows MOCO's write tries again.
 *
 * A cluster that a person has released does not have this condition, because no program would keep it correct after
 * this one is uninstalled.
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
