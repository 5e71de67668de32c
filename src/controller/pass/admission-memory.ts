import { isAdopted } from '../../core/adoption.ts';
import type { Step } from '../../core/decision.ts';
import type { ApiError } from '../../kube/api-error.ts';
import type { StatefulSetRecord } from '../../moco/records.ts';
import type { StepResult } from '../../objects/execute.ts';
import { admissionNotInForce, type StrategyKeeper } from '../../objects/strategy.ts';
import type { AdmissionFinding, Steps } from './memory.ts';

/** Older attempts are forgotten, because after this many the delay between adoptions no longer grows. */
const mostAdoptions = 10;

/**
 * Returns the memory after a dry run. A failure for an unrelated reason does not change what is known about admission.
 */
export function afterDryRun(steps: Steps, mode: AdmissionFinding['mode'], failure: ApiError, now: number): Steps {
  if (failure.reason !== admissionNotInForce) return steps;
  const before = steps.admissionProblem;
  const tries = before?.mode === mode ? before.tries + 1 : 1;
  return { ...steps, admissionProblem: { mode, finding: failure.message, tries, atMilliseconds: now } };
}

/**
 * Returns the memory after a step. `keeper` says what enforces the strategy; it is `null` if no dry run of the step has
 * shown that.
 */
export const afterKeeper = (steps: Steps, keeper: StrategyKeeper | null, now: number): Steps =>
  keeper === null
    ? steps
    : withoutProblem({ ...steps, strategyKeeper: { keeper, atMilliseconds: now } }, ['CurrentRevision']);

/**
 * Counts adoptions, including those with an unknown result. A release resets the count, because a user then intends the
 * next adoption. A step on a StatefulSet that is already adopted does not count, even if it returns new pods to the
 * update revision.
 */
export function afterAdoption(
  steps: Steps,
  step: Step,
  before: StatefulSetRecord | null,
  result: StepResult,
  now: number,
): Steps {
  if (step.kind === 'release' && result === 'done') return { ...steps, adoptions: null };
  if (step.kind !== 'setStrategy' || (result !== 'done' && result !== 'unknown')) return steps;
  if (step.newPods === 'CurrentRevision' || before === null) return steps;
  const after = withoutProblem(steps, ['OnDelete', 'Partition']);
  if (isAdopted(before)) return after;
  const { uid } = before;
  const earlier = steps.adoptions?.uid === uid ? steps.adoptions.atMilliseconds : [];
  return { ...after, adoptions: { uid, atMilliseconds: [...earlier, now].slice(-mostAdoptions) } };
}

const withoutProblem = (steps: Steps, modes: readonly AdmissionFinding['mode'][]): Steps =>
  steps.admissionProblem !== null && modes.includes(steps.admissionProblem.mode)
    ? { ...steps, admissionProblem: null }
    : steps;
