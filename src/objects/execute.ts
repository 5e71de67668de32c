import { rolloutKind } from '../api/rollout.ts';
import { identityOf } from '../base/json.ts';
import type { World } from '../base/world.ts';
import type { Step, Target } from '../core/decision.ts';
import { ApiError, isConflict, isNotFound, wasNeverSent, wasTooLate } from '../kube/api-error.ts';
import { controllerRevisions, pods as podKind } from '../kube/resource.ts';
import { restartNote } from '../moco/in-place/restart.ts';
import {
  annotationOn,
  demoteAnnotation,
  demotedForAnnotation,
  restartInPlaceAnnotation,
  revisionHashLabel,
} from '../moco/names.ts';
import type { ClusterRecord, PodRecord, StatefulSetRecord } from '../moco/records.ts';
import type { ClusterApi, InPlacePatch } from './cluster-client.ts';
import type { LiveObjects } from './cluster-reader.ts';
import { adoptStatefulSet, type Kept, keepRevisions, releaseStatefulSet, type StrategyKeeper } from './strategy.ts';

// Carries out one step: it turns a decision of the core into a write, and the response into a result.

/** The result of a step. `unknown` means that the step may or may not have happened. */
export type StepResult = 'done' | 'refused' | 'conflict' | 'unknown';

/**
 * A write of this program that the cache must show before the next step. Otherwise outdated facts would lead to the
 * same step again.
 */
export interface OwnWrite {
  readonly what: string;
  readonly uid: string;
  /** The resourceVersion of the object after the write, or `gone` if the write deletes it. */
  readonly expected: { readonly resourceVersion: string } | 'gone';
  readonly sinceMilliseconds: number;
}

export interface StepAnswer {
  readonly result: StepResult;
  readonly done: readonly Target[];
  readonly ownWrites: readonly OwnWrite[];
  /** The API server's message if it refused the step, otherwise `null`. */
  readonly message: string | null;
  /** Whether the confirmation was already too old, so that the step was not sent. */
  readonly tooLate: boolean;
  /** The error if an immediate retry would fail in the same way, so that the retry needs a delay. Otherwise `null`. */
  readonly failure: ApiError | null;
  /** What keeps the strategy of the StatefulSet, if a dry run of the step has shown it. */
  readonly strategyKeeper?: StrategyKeeper;
}

const revisionMissing = 'RevisionMissing';

/** The reason in `details.causes` by which the API server marks a refused eviction (policy/v1). */
const disruptionBudgetCause = 'DisruptionBudget';

/** Performs a single step. A response of the API server never makes it throw; other errors do. */
export async function execute(
  step: Step,
  { objects: { cluster, statefulSet, pods }, rollout }: LiveObjects,
  api: ClusterApi,
  world: World,
): Promise<StepAnswer> {
  const now = world.monotonic();
  const { namespace } = cluster;
  const gone = (what: string, { uid }: Target): OwnWrite => ({ what, uid, expected: 'gone', sinceMilliseconds: now });
  const seen = (what: string, uid: string, resourceVersion: string): OwnWrite => ({
    what,
    uid,
    expected: { resourceVersion },
    sinceMilliseconds: now,
  });
  /** `write` resolves to the StatefulSet after the write, or to `null` if the result is not known. */
  const ofStatefulSet = (
    write: (found: StatefulSetRecord) => Promise<StatefulSetRecord | null>,
  ): Promise<StepAnswer> => {
    if (statefulSet === null) throw new Error(`expected a StatefulSet for ${step.kind}, got none`);
    return each([{ ...statefulSet, ordinal: -1 }], async () => {
      const after = await write(statefulSet);
      return seen(step.kind, statefulSet.uid, after?.resourceVersion ?? statefulSet.resourceVersion);
    });
  };
  switch (step.kind) {
    case 'none':
      return nothingDone;
    case 'delete':
    case 'restore':
      return each(step.targets, async (target) => {
        await api.deletePod(namespace, target);
        return gone(`deletion of ${target.name}`, target);
      });
    case 'evict':
      return each(step.targets, async (target) => {
        await api.evictPod(namespace, target);
        return gone(`eviction of ${target.name}`, target);
      });
    case 'updateInPlace':
      return each(step.targets, async (target) => {
        const version = await api.updateInPlace(namespace, target, patchOf(step, pods));
        return seen(`update of ${target.name} in place`, target.uid, version);
      });
    case 'resizeInPlace':
      return each(step.targets, async (target) => {
        const version = await api.resizePod(namespace, target, step.resources);
        return seen(`resize of ${target.name}`, target.uid, version);
      });
    case 'demote':
      return each(step.targets, async (target) => {
        const annotations = { [demoteAnnotation]: annotationOn, [demotedForAnnotation]: step.mark };
        const version = await api.annotate(podKind, namespace, target, annotations);
        return seen(`demotion of ${target.name}`, target.uid, version);
      });
    case 'undemote':
      return each(step.targets, async (target) => {
        const annotations = { [demoteAnnotation]: null, [demotedForAnnotation]: null };
        const version = await api.annotate(podKind, namespace, target, annotations);
        return seen(`end of the demotion of ${target.name}`, target.uid, version);
      });
    case 'release':
      return ofStatefulSet(async (found) => {
        // The annotation is removed first, so that nothing is left behind if the release is interrupted and repeated. A
        // later adoption does not need the annotation, because by then the kubelet has restarted the containers.
        const noted = pods.filter(({ live }) => live?.annotations[restartInPlaceAnnotation] !== undefined);
        const removal = { [restartInPlaceAnnotation]: null };
        await Promise.all(noted.map((pod) => api.annotate(podKind, pod.namespace, pod, removal)));
        return releaseStatefulSet(found, api);
      });
    case 'setStrategy': {
      if (step.newPods === 'UpdateRevision') return ofStatefulSet((found) => adoptStatefulSet(found, api));
      let kept: Kept | null = null;
      const answer = await ofStatefulSet(async (found) => {
        kept = await keepRevisions(found, step.lasts, api, () => assertNewest(rollout, cluster, api));
        return kept.after;
      });
      return withKeeper(answer, kept);
    }
    case 'setPartition':
      return ofStatefulSet((found) => {
        const spec = { updateStrategy: { rollingUpdate: { partition: step.partition } } };
        return api.patchStatefulSet(found, { spec });
      });
    case 'promoteRevision':
      return ofStatefulSet(async (found) => {
        if (step.for === 'keep') {
          await Promise.all([assertRevision(step.revision, namespace, api), assertNewest(rollout, cluster, api)]);
        }
        return api.promoteRevision(found, step);
      });
  }
}

const nothingDone: StepAnswer = {
  result: 'done',
  done: [],
  ownWrites: [],
  message: null,
  tooLate: false,
  failure: null,
};

/**
 * Adds to the answer whether a policy or a webhook enforces the strategy. If the label was not set, a webhook keeps the
 * strategy, and the StatefulSet must not depend on a webhook while the rollout is held. That is not a failure, and the
 * core does not try again.
 */
function withKeeper(answer: StepAnswer, kept: Kept | null): StepAnswer {
  if (kept === null) return answer;
  const { keeper: strategyKeeper, after } = kept;
  if (after !== null) return { ...answer, strategyKeeper };
  const message = 'a webhook keeps the strategy, and may be unavailable while the rollout is held';
  return { ...nothingDone, result: 'refused', message, strategyKeeper };
}

/**
 * Rejects if the current revision no longer exists, because the StatefulSet controller would then use the update
 * revision.
 */
async function assertRevision(revision: string, namespace: string, api: ClusterApi): Promise<void> {
  if ((await api.read(controllerRevisions, { namespace, name: revision })) !== null) return;
  const message = `the ControllerRevision ${revision} no longer exists, so lost members can't come back at it`;
  throw new ApiError({ status: 422, reason: revisionMissing, message });
}

/**
 * Rejects with a 409 if the MySQLRollout has changed. Only the MySQLRollout shows whether a step is ending a
 * terminating pod, and it is written before the pod terminates. So reading it after the pod was seen terminating is
 * sufficient. The cache would not be sufficient, because it may be behind for one kind but not for another.
 */
async function assertNewest(
  rollout: LiveObjects['rollout'],
  { namespace, name }: Pick<ClusterRecord, 'namespace' | 'name'>,
  api: ClusterApi,
): Promise<void> {
  const { uid, resourceVersion } = identityOf((await api.read(rolloutKind, { namespace, name })) ?? {});
  const known = rollout?.metadata;
  if (known?.uid === uid && known.resourceVersion === resourceVersion) return;
  throw new ApiError({ status: 409, reason: 'Conflict', message: 'the MySQLRollout has changed in the meantime' });
}

/** Writes to all targets in parallel. The result is the worst of the results of these writes. */
async function each(targets: readonly Target[], write: (target: Target) => Promise<OwnWrite>): Promise<StepAnswer> {
  const answers = await Promise.all(
    targets.map(async (target): Promise<{ readonly target: Target; readonly answer: OwnWrite | ApiError }> => {
      try {
        return { target, answer: await write(target) };
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        return { target, answer: error };
      }
    }),
  );
  const errors = answers.flatMap(({ answer }) => (answer instanceof ApiError ? [answer] : []));
  const [error = null] = errors;
  return {
    result: worst(errors.map(resultOf)),
    done: answers.flatMap(({ target, answer }) => (answer instanceof ApiError ? [] : [target])),
    ownWrites: answers.flatMap(({ answer }) => (answer instanceof ApiError ? [] : [answer])),
    message: error && sentenceOf(error),
    tooLate: errors.some(wasTooLate),
    failure: errors.find((candidate) => resultOf(candidate) !== 'conflict') ?? null,
  };
}

/**
 * The error as a message for people. If the object has changed or is gone, the message says only that. If an eviction
 * is refused, the message of the cause contains the name and the numbers of the budget.
 */
function sentenceOf(error: ApiError): string {
  if (isConflict(error)) return 'it has changed in the meantime';
  if (isNotFound(error)) return 'it is gone';
  const { causes, message } = error;
  return causes.find(({ reason }) => reason === disruptionBudgetCause)?.message ?? message;
}

/** Without a response, or after a server error, it is unknown whether the write happened. */
function resultOf(error: ApiError): StepResult {
  if (isConflict(error) || isNotFound(error) || wasNeverSent(error)) return 'conflict';
  return error.status === 0 || error.status >= 500 ? 'unknown' : 'refused';
}

function worst(results: readonly StepResult[]): StepResult {
  const order: readonly StepResult[] = ['unknown', 'conflict', 'refused'];
  return order.find((result) => results.includes(result)) ?? 'done';
}

/** The whole patch of a pod: the changes, the revision, and the names of the containers that restart. */
export function patchOf(
  {
    targets: [{ uid }],
    revision,
    change,
  }: Pick<Extract<Step, { kind: 'updateInPlace' }>, 'targets' | 'revision' | 'change'>,
  pods: readonly PodRecord[],
): InPlacePatch {
  const pod = pods.find((one) => one.uid === uid);
  const note = pod && restartNote(change, revision, pod);
  const { resources: _, ...patch } = change;
  return {
    ...patch,
    labels: { ...change.labels, [revisionHashLabel]: revision },
    annotations: { ...change.annotations, ...(note !== undefined && { [restartInPlaceAnnotation]: note }) },
  };
}
