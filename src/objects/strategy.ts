import { keepsRevisions as isKept } from '../core/adoption.ts';
import type { ClusterSnapshot } from '../core/snapshot.ts';
import { ApiError, isConflict, isInternalError, isInvalid, isOfAnotherUid } from '../kube/api-error.ts';
import {
  admissionProbeAnnotation,
  newPodsAtCurrentRevision,
  newPodsLabel,
  probeSeenByWebhook,
  probeSent,
  strategyLabel,
  strategyOnDelete,
} from '../moco/names.ts';
import type { StatefulSetRecord } from '../moco/records.ts';
import type { ClusterApi, PatchedStatefulSet, StatefulSetPatch } from './cluster-client.ts';

// Determines which program replaces the pods of a StatefulSet: writes its strategy and its labels, each after a dry
// run.

/** The reason of an error that this program creates itself, because a dry run showed that admission has no effect. */
export const admissionNotInForce = 'AdmissionNotInForce';

/**
 * The reason of an error that this program creates itself, because a dry run showed that a release would update
 * members.
 */
export const releaseUnsafe = 'ReleaseUnsafe';

/** What keeps the strategy of StatefulSets with this program's label. */
export type StrategyKeeper = NonNullable<ClusterSnapshot['strategyKeeper']>;

function described(result: StatefulSetRecord | null): string {
  if (result === null) return 'without the labels of MOCO';
  const { strategy, partition, labelled, newPods } = result;
  if (strategy === 'RollingUpdate') return `at RollingUpdate with partition ${partition ?? 'none'}`;
  if (!labelled) return `at OnDelete without the label ${strategyLabel}`;
  return newPods === 'CurrentRevision' ? `at OnDelete with the label ${newPodsLabel}` : 'at OnDelete';
}

const notInForce = (message: string): ApiError => new ApiError({ status: 422, reason: admissionNotInForce, message });

/**
 * Attempts a write. If another webhook makes the object invalid, or if a webhook panics, the error shows that admission
 * has no effect. Missing permissions do not show that.
 */
async function tryWrite<T>(write: () => Promise<T>, what: string): Promise<T> {
  try {
    return await write();
  } catch (error) {
    if (!(error instanceof ApiError) || !(isInvalid(error) || isInternalError(error))) throw error;
    throw notInForce(`${what} was refused: ${error.message}`);
  }
}

const mostTries = 4;

/**
 * Patches the StatefulSet with its uid as the only precondition, and repeats the patch immediately after a 409. While a
 * pod is terminating or coming back, the status of its StatefulSet changes all the time, so a resourceVersion would be
 * outdated just when the write matters. Use it only for patches that mean the same no matter what else has changed.
 * Rejects with a 409 if the StatefulSet of that name has a different uid.
 */
async function whicheverVersion(
  { resourceVersion: _, ...statefulSet }: StatefulSetRecord,
  patch: StatefulSetPatch,
  api: ClusterApi,
  dryRun: boolean,
): Promise<PatchedStatefulSet | null> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await api.patchStatefulSet(statefulSet, patch, dryRun);
    } catch (error) {
      if (isOfAnotherUid(error))
        throw new ApiError({ status: 409, reason: 'Conflict', message: error.message, cause: error });
      if (!isConflict(error) || tries === mostTries) throw error;
    }
  }
}

const request = (type: 'OnDelete' | 'RollingUpdate', partition: number | null = null) => ({
  updateStrategy: { type, rollingUpdate: partition === null ? null : { partition } },
});
const labels = { [strategyLabel]: strategyOnDelete, [newPodsLabel]: null };
const setOnDelete: StatefulSetPatch = { labels, spec: request('OnDelete') };
/** Requests the strategy that MOCO's next write may request. */
const requestRollingUpdate: StatefulSetPatch = { labels, spec: request('RollingUpdate') };

/**
 * Sets the StatefulSet to OnDelete and adds the label that keeps it there, but not the label for new pods. Two dry runs
 * come first: one of the same patch, and one of a patch that requests RollingUpdate, as MOCO's next write does. Nothing
 * is written unless both results have OnDelete and the label.
 *
 * The uid is the only precondition. The patch means the same no matter what else has changed: after it, only this
 * program replaces pods. MOCO writes some StatefulSets several times a second until they are adopted.
 */
export async function adoptStatefulSet(
  statefulSet: StatefulSetRecord,
  api: ClusterApi,
): Promise<StatefulSetRecord | null> {
  const patch = (change: StatefulSetPatch, isDryRun: boolean) => whicheverVersion(statefulSet, change, api, isDryRun);
  for (const [change, what] of [
    [setOnDelete, 'a dry run that sets OnDelete'],
    [requestRollingUpdate, 'a dry run that requests RollingUpdate'],
  ] as const) {
    const result = await tryWrite(() => patch(change, true), what);
    if (!isAtOnDelete(result)) throw notInForce(`${what} left it ${described(result)}`);
  }
  const after = await patch(setOnDelete, false);
  if (!isAtOnDelete(after)) throw notInForce(`the StatefulSet was set to OnDelete, but is ${described(after)}`);
  return after;
}

/**
 * Checks, before the partition is lowered to the given value, that admission sets it back to the number of replicas at
 * MOCO's next write. A dry run changes the partition and an annotation. MOCO's webhook, or the one of the bundled
 * partition driver, must then reset the partition. Without such a webhook the lowered partition would remain. Rejects
 * if the partition is not reset.
 */
export async function provePartitionHeld(
  statefulSet: StatefulSetRecord,
  partition: number,
  api: ClusterApi,
): Promise<void> {
  const what = `a dry run that sets partition ${partition} and an annotation`;
  const annotations = { [admissionProbeAnnotation]: probeSent };
  const patch = { annotations, spec: { updateStrategy: { rollingUpdate: { partition } } } };
  const result = await tryWrite(() => api.patchStatefulSet(statefulSet, patch, true), what);
  if (result?.strategy === 'RollingUpdate' && result.partition === statefulSet.replicas) return;
  throw notInForce(`${what} left it ${described(result)} instead of ${statefulSet.replicas}`);
}

const isAtOnDelete = (result: StatefulSetRecord | null): boolean =>
  result?.strategy === 'OnDelete' && result.labelled && result.newPods === 'UpdateRevision';

const label = { [newPodsLabel]: newPodsAtCurrentRevision };
/**
 * This patch requests OnDelete, which changes nothing if the StatefulSet is already at OnDelete. So if the result has
 * RollingUpdate, admission has set it, whatever strategy the StatefulSet had before.
 */
const probe: StatefulSetPatch = {
  labels: { [strategyLabel]: strategyOnDelete, ...label },
  annotations: { [admissionProbeAnnotation]: probeSent },
  spec: request('OnDelete'),
};

export interface Kept {
  readonly keeper: StrategyKeeper;
  /** The StatefulSet after the write; `null` if nothing was written. */
  readonly after: StatefulSetRecord | null;
}

/**
 * Adds the label that makes admission keep the StatefulSet at RollingUpdate with a partition equal to the number of
 * replicas. New pods then start at the current revision, and no pod is replaced. A dry run comes first, and shows what
 * keeps the strategy. If it is a webhook, a StatefulSet does not stay in that state while its rollout is held: the
 * webhook may become unavailable, and MOCO's partition controller would then update members.
 *
 * Rejects with the reason `AdmissionNotInForce` if the result of the dry run or of the write is different. The label is
 * then removed again.
 *
 * @param assertStillSo runs between the dry run and the write, so that the facts that it checks have little time to
 * change
 */
export async function keepRevisions(
  statefulSet: StatefulSetRecord,
  lasts: 'whileHeld' | 'untilCreated',
  api: ClusterApi,
  assertStillSo: () => Promise<void>,
): Promise<Kept> {
  const keeper = await proveRevisionsKept(statefulSet, api);
  if (keeper === 'webhook' && lasts === 'whileHeld') return { keeper, after: null };
  await assertStillSo();
  const after = await whicheverVersion(statefulSet, { labels: label }, api, false);
  if (isKept(after)) return { keeper, after };
  // If the removal fails, the object still shows the label, and the next step removes it.
  await whicheverVersion(statefulSet, { labels: { [newPodsLabel]: null } }, api, false).catch((error: unknown) => {
    if (!(error instanceof ApiError)) throw error;
  });
  throw notInForce(`new pods were to start at the current revision, but the StatefulSet is ${described(after)}`);
}

/**
 * Resolves to what keeps the strategy, according to a dry run. Rejects with the reason `AdmissionNotInForce` if the
 * strategy is not kept.
 */
export async function proveRevisionsKept(statefulSet: StatefulSetRecord, api: ClusterApi): Promise<StrategyKeeper> {
  const what = 'a dry run that lets new pods start at the current revision';
  const tried = await tryWrite(() => whicheverVersion(statefulSet, probe, api, true), what);
  if (!isKept(tried)) throw notInForce(`${what} left it ${described(tried)}`);
  return tried?.probe === probeSeenByWebhook ? 'webhook' : 'policy';
}

/**
 * Removes this program's labels and restores rolling updates in a single patch. If MOCO's webhook is installed, it adds
 * a partition equal to the number of replicas to a patch without a partition, and it panics if a patch adds a partition
 * that was not there. If the webhook is not installed, the patch must contain the partition. So a dry run tries each
 * form first, and a form is sent only if the resulting partition updates no member. If MOCO's native rolling update is
 * forced, there can be no partition, and none is requested.
 */
export async function releaseStatefulSet(
  statefulSet: StatefulSetRecord,
  api: ClusterApi,
): Promise<StatefulSetRecord | null> {
  const { replicas, forcedRollingUpdate } = statefulSet;
  const reasons: string[] = [];
  for (const partition of [null, replicas]) {
    const patch = {
      labels: { [strategyLabel]: null, [newPodsLabel]: null },
      spec: request('RollingUpdate', partition),
    };
    const tried = await api.patchStatefulSet(statefulSet, patch, true).catch((error: unknown) => {
      // If a webhook panics, it answers with 500. The policy of config/rbac refuses a partition that updates members.
      // In both cases the other form of the patch may succeed.
      if (!(error instanceof ApiError) || !(isInternalError(error) || isInvalid(error))) throw error;
      reasons.push(error.message);
      return null;
    });
    if (tried === null) continue;
    const takesNobody = tried.strategy === 'RollingUpdate' && tried.partition === replicas;
    const isUnlabelled = !tried.labelled && tried.newPods === 'UpdateRevision';
    if ((takesNobody || forcedRollingUpdate) && isUnlabelled) return api.patchStatefulSet(statefulSet, patch);
    reasons.push(`the result would be ${tried.strategy} with partition ${tried.partition ?? 'none'} of ${replicas}`);
  }
  throw new ApiError({ status: 422, reason: releaseUnsafe, message: [...new Set(reasons)].join('; ') });
}
