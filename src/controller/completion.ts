import type { Decision } from '../core/decision.ts';
import { isConflict } from '../kube/api-error.ts';
import { objects as items, type Json, object, whole } from '../moco/json.ts';
import { rolloutCompleteCondition } from '../moco/names.ts';
import { projectCluster } from '../moco/projections.ts';
import type { ClusterObjects, ClusterRecord } from '../moco/records.ts';
import { milliseconds } from '../moco/timestamp.ts';
import type { ClusterApi, LiveObjects } from './cluster-api.ts';
import type { ClusterState } from './cluster-state.ts';
import type { Gathered } from './gather.ts';
import { isShown } from './status.ts';

/** What a decision says about a MySQLCluster as it is just being read. */
export type Judge = (live: LiveObjects) => Decision;

/** Of True, which somebody waits for. */
const mostTries = 3;

/** How long MOCO is given to put back a template that somebody else has written. */
const foreignTemplateMilliseconds = 10_000;

/**
 * Milliseconds for which a cluster in which nothing is stale may not be called complete yet. An update revision that has
 * just come, and that every member has already, may be that of somebody's `kubectl rollout undo`: MOCO is about to write
 * its own again. It can't be where members were replaced for it.
 */
export function unsettledMilliseconds(
  { rollout, objects, snapshot }: Gathered,
  { updateRevision: seen }: Pick<ClusterState, 'updateRevision'>,
  monotonicMilliseconds: number,
): number {
  const revision = objects.statefulSet?.updateRevision;
  const { updateRevision, rollout: progress, lastCompleted } = rollout?.status ?? {};
  if (updateRevision === undefined || progress?.revision === revision) return 0;
  const came = seen?.value === revision ? (seen?.came ?? null) : null;
  if (lastCompleted?.revision === revision && lastCompleted?.outcome === 'Complete') {
    const finishedAt = milliseconds(lastCompleted.finishedAt) ?? 0;
    if (came === null || came.wallMilliseconds <= finishedAt) return 0;
  }
  const toldSeconds = updateRevision === revision ? snapshot.memory.recentRevisionAgesSeconds.at(-1) : 0;
  const ages = [
    ...(toldSeconds === undefined ? [] : [toldSeconds * 1000]),
    ...(came === null ? [] : [monotonicMilliseconds - came.atMilliseconds]),
  ];
  return Math.max(0, ...ages.map((age) => foreignTemplateMilliseconds - age));
}

/**
 * Keeps condition `moco-rollout.io/RolloutComplete` on the MySQLCluster, the thing to wait for. Written on transitions
 * alone, since every write makes MOCO reconcile. True is never written from a cache: the MySQLCluster is read first,
 * so that a StatefulSet read after it has what MOCO had applied for that generation, and its resourceVersion is the
 * precondition. False needs no such look; where it was wrong, the next pass says so. A True of an older generation is true
 * of nothing any more, so that there is no hurry to take it back: while MOCO and Kubernetes take a change in, a write of
 * ours would be in the way of theirs and of the first member. Conditions are an atomic list, hence GET, change, PUT. Where
 * MOCO keeps writing in between it is left to the pass that its writes bring.
 *
 * @param heldForSeconds for how long the decision's hold has been the same
 */
export async function keepCompletion(
  known: ClusterObjects,
  decision: Decision,
  heldForSeconds: number,
  judge: Judge,
  api: ClusterApi,
  nowTimestamp: string,
  signal: AbortSignal,
): Promise<void> {
  if (!differs(known.cluster, decision) || canWait(known.cluster, decision, heldForSeconds)) return;
  const { namespace, name } = known.cluster;
  for (let tries = 1; ; tries++) {
    const raw = await api.readCluster(namespace, name, signal);
    if (raw === null || object(raw['metadata'])['deletionTimestamp'] !== undefined) return;
    const live = decision.complete ? await api.readAll(known, signal) : null;
    if (decision.complete && live === null) return;
    const judged = live === null ? decision : judge(live);
    const cluster = live?.objects.cluster ?? projectCluster(raw);
    if (cluster === null || !differs(cluster, judged)) return;
    const generation = whole(object(raw['metadata'])['generation'], 0);
    try {
      const status = { ...object(raw['status']), conditions: withCondition(raw, judged, generation, nowTimestamp) };
      await api.replaceClusterStatus({ ...raw, status }, namespace, name, signal);
      return;
    } catch (error) {
      if (!isConflict(error)) throw error;
      if (!decision.complete || tries === mostTries) return;
    }
  }
}

/** Absent is as good as False; True has to be of this very generation, which is what `kubectl wait` compares. */
function differs({ rolloutComplete, generation }: ClusterRecord, { complete }: Decision): boolean {
  if (!complete) return rolloutComplete?.status === true;
  return rolloutComplete?.status !== true || rolloutComplete.observedGeneration !== generation;
}

/** Nobody who waits for this generation is misled by what is there, and what goes on passes by itself. */
function canWait({ rolloutComplete, generation }: ClusterRecord, decision: Decision, heldForSeconds: number): boolean {
  const { complete, hold } = decision;
  const isOlder = rolloutComplete !== null && rolloutComplete.observedGeneration !== generation;
  return !complete && isOlder && hold !== null && !isShown(hold, heldForSeconds);
}

function withCondition(
  raw: Json,
  { complete, hold }: Decision,
  generation: number,
  nowTimestamp: string,
): readonly Json[] {
  const conditions = items(object(raw['status'])['conditions']);
  const index = conditions.findIndex((condition) => condition['type'] === rolloutCompleteCondition);
  const before = conditions[index];
  const status = complete ? 'True' : 'False';
  const condition = {
    type: rolloutCompleteCondition,
    status,
    reason: complete ? 'RolloutComplete' : (hold?.rule ?? 'RollingOut'),
    message: complete
      ? 'every member is at the newest revision and participates'
      : 'not every member is at the newest revision and participates',
    observedGeneration: generation,
    lastTransitionTime: before?.['status'] === status ? before['lastTransitionTime'] : nowTimestamp,
  };
  return index < 0 ? [...conditions, condition] : conditions.with(index, condition);
}
