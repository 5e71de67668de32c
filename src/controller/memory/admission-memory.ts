import { isAdopted } from '../../core/adoption.ts';
import type { Step } from '../../core/decision.ts';
import type { ApiError } from '../../kube/api-error.ts';
import type { World } from '../../kube/world.ts';
import type { StatefulSetRecord } from '../../moco/records.ts';
import { type AdmissionFinding, admissionNotInForce, type StrategyKeeper } from '../facts/admission.ts';
import type { StepResult } from '../facts/ended-step.ts';
import type { ClusterState } from './cluster-memory.ts';

/** Further attempts are not remembered: adoptions are rarest by then. */
const mostAdoptions = 10;

/** Notes the result of a dry run. A failure for another reason does not change what is known about admission. */
export function noteAdmission(
  state: ClusterState,
  mode: AdmissionFinding['mode'],
  failure: ApiError,
  world: World,
): void {
  if (failure.reason !== admissionNotInForce) return;
  const before = state.admissionProblem;
  state.admissionProblem = {
    mode,
    finding: failure.message,
    tries: before?.mode === mode ? before.tries + 1 : 1,
    atMilliseconds: world.monotonic(),
  };
}

/** Notes who keeps the strategy. `null` if no dry run has shown it. */
export function noteKeeper(state: ClusterState, keeper: StrategyKeeper | null, world: World): void {
  if (keeper === null) return;
  state.strategyKeeper = { keeper, atMilliseconds: world.monotonic() };
  forget(state, ['CurrentRevision']);
}

/**
 * Counts adoptions, including those with an unknown result. A release resets the count: a later adoption is intended. A
 * StatefulSet that lets new pods come up at the update revision again was adopted before.
 */
export function noteAdoption(
  state: ClusterState,
  step: Step,
  before: StatefulSetRecord | null,
  result: StepResult,
  world: World,
): void {
  if (step.kind === 'release' && result === 'done') state.adoptions = null;
  if (step.kind !== 'setStrategy' || (result !== 'done' && result !== 'unknown')) return;
  if (step.newPods === 'CurrentRevision' || before === null) return;
  forget(state, ['OnDelete', 'Partition']);
  if (isAdopted(before)) return;
  const { uid } = before;
  const earlier = state.adoptions?.uid === uid ? state.adoptions.atMilliseconds : [];
  state.adoptions = { uid, atMilliseconds: [...earlier, world.monotonic()].slice(-mostAdoptions) };
}

function forget(state: ClusterState, modes: readonly AdmissionFinding['mode'][]): void {
  if (state.admissionProblem !== null && modes.includes(state.admissionProblem.mode)) state.admissionProblem = null;
}
