import type { Step, Target } from '../core/decision.ts';
import { ApiError, isConflict, isNotFound, isTooManyRequests, wasNeverSent, wasTooLate } from '../kube/api-error.ts';
import type { World } from '../kube/world.ts';
import { annotationOn, demoteAnnotation, demotedForAnnotation } from '../moco/names.ts';
import type { ClusterObjects } from '../moco/records.ts';
import { adopt } from './adopt.ts';
import type { ClusterApi, StatefulSetPatch } from './cluster-api.ts';
import type { StepResult } from './cluster-state.ts';
import { giveBack } from './give-back.ts';
import type { OwnWrite } from './own-writes.ts';

/** In `details.causes` of a refused eviction (policy/v1). */
const disruptionBudgetCause = 'DisruptionBudget';

/** What became of a step. */
export interface Acted {
  readonly result: StepResult;
  /** Targets it was done to. */
  readonly done: readonly Target[];
  readonly ownWrites: readonly OwnWrite[];
  /** The API server's sentence where it refused, else `null`. */
  readonly message: string | null;
  /** An eviction was answered with 429. */
  readonly refusedByBudget: boolean;
  /** It was not sent, since what was confirmed had become too old. */
  readonly tooLate: boolean;
  /** What to come back with later, where trying again at once would end the same way. */
  readonly failure: ApiError | null;
}

/** Does one step and nothing else. Only what isn't the API server's answer to it is thrown. */
export async function act(
  step: Step,
  { cluster, statefulSet }: ClusterObjects,
  api: ClusterApi,
  world: World,
  signal: AbortSignal,
): Promise<Acted> {
  const now = world.monotonic();
  const { namespace } = cluster;
  const gone = (what: string, { uid }: Target): OwnWrite => ({ what, uid, expected: 'gone', sinceMilliseconds: now });
  const seen = (what: string, uid: string, resourceVersion: string): OwnWrite => ({
    what,
    uid,
    expected: { resourceVersion },
    sinceMilliseconds: now,
  });
  switch (step.kind) {
    case 'none':
      return {
        result: 'done',
        done: [],
        ownWrites: [],
        message: null,
        refusedByBudget: false,
        tooLate: false,
        failure: null,
      };
    case 'delete':
      return each(step.targets, async (target) => {
        await api.deletePod(namespace, target, signal);
        return gone(`deletion of ${target.name}`, target);
      });
    case 'evict':
      return refusable(
        await each(step.targets, async (target) => {
          await api.evictPod(namespace, target, signal);
          return gone(`eviction of ${target.name}`, target);
        }),
      );
    case 'demote':
      return each(step.targets, async (target) => {
        const annotations = { [demoteAnnotation]: annotationOn, [demotedForAnnotation]: step.revision };
        const version = await api.annotate('Pod', namespace, target, annotations, signal);
        return seen(`demotion of ${target.name}`, target.uid, version);
      });
    case 'undemote':
      return each(step.targets, async (target) => {
        const annotations = { [demoteAnnotation]: null, [demotedForAnnotation]: null };
        const version = await api.annotate('Pod', namespace, target, annotations, signal);
        return seen(`end of the demotion of ${target.name}`, target.uid, version);
      });
    case 'handBack':
      if (statefulSet === null) throw new Error('expected a StatefulSet to give back, got none');
      return each([{ ...statefulSet, ordinal: -1 }], async () => {
        const after = await giveBack(statefulSet, api, signal);
        return seen(step.kind, statefulSet.uid, after?.resourceVersion ?? statefulSet.resourceVersion);
      });
    case 'setStrategy':
      if (statefulSet === null) throw new Error('expected a StatefulSet to adopt, got none');
      return each([{ ...statefulSet, ordinal: -1 }], async () => {
        const after = await adopt(statefulSet, api, signal);
        return seen(step.kind, statefulSet.uid, after?.resourceVersion ?? statefulSet.resourceVersion);
      });
    case 'setPartition':
    case 'promoteRevision': {
      if (statefulSet === null) throw new Error(`expected a StatefulSet for ${step.kind}, got none`);
      const patch = statefulSetPatch(step);
      return each([{ ...statefulSet, ordinal: -1 }], async () => {
        const after = await api.patchStatefulSet(statefulSet, patch, signal);
        return seen(step.kind, statefulSet.uid, after?.resourceVersion ?? statefulSet.resourceVersion);
      });
    }
  }
}

function statefulSetPatch(step: Extract<Step, { kind: 'setPartition' | 'promoteRevision' }>): StatefulSetPatch {
  switch (step.kind) {
    case 'setPartition':
      return { spec: { updateStrategy: { rollingUpdate: { partition: step.partition } } } };
    case 'promoteRevision':
      return { status: { currentRevision: step.revision, currentReplicas: step.replicas } };
  }
}

/** 429 is how the API server says that a budget does not allow it; a webhook that guards evictions says so as well. */
function refusable(acted: Acted): Acted {
  return { ...acted, refusedByBudget: acted.result === 'refused' && isTooManyRequests(acted.failure) };
}

/** All targets at once; the result is that of the least lucky one. */
async function each(targets: readonly Target[], write: (target: Target) => Promise<OwnWrite>): Promise<Acted> {
  const outcomes = await Promise.all(
    targets.map(async (target): Promise<OneActed> => {
      try {
        return { target, ownWrite: await write(target), error: null };
      } catch (error) {
        if (!(error instanceof ApiError)) throw error;
        return { target, ownWrite: null, error };
      }
    }),
  );
  const errors = outcomes.map(({ error }) => error).filter((error) => error !== null);
  const [error = null] = errors;
  return {
    result: worst(errors.map(resultOf)),
    done: outcomes.filter(({ ownWrite }) => ownWrite !== null).map(({ target }) => target),
    ownWrites: outcomes.map(({ ownWrite }) => ownWrite).filter((ownWrite) => ownWrite !== null),
    message: error && sentenceOf(error),
    refusedByBudget: false,
    tooLate: errors.some(wasTooLate),
    failure: errors.find((candidate) => resultOf(candidate) !== 'conflict') ?? null,
  };
}

/** Of a refused eviction the cause has the budget's name and numbers. */
function sentenceOf({ causes, message }: ApiError): string {
  return causes.find(({ reason }) => reason === disruptionBudgetCause)?.message ?? message;
}

interface OneActed {
  readonly target: Target;
  readonly ownWrite: OwnWrite | null;
  readonly error: ApiError | null;
}

/** No answer, or a server that failed on the way, leaves open whether the write has happened. */
function resultOf(error: ApiError): StepResult {
  if (isConflict(error) || isNotFound(error) || wasNeverSent(error)) return 'conflict';
  return error.status === 0 || error.status >= 500 ? 'unknown' : 'refused';
}

function worst(results: readonly StepResult[]): StepResult {
  const order: readonly StepResult[] = ['unknown', 'conflict', 'refused'];
  return order.find((result) => results.includes(result)) ?? 'done';
}
