import type { Step } from '../../core/decision.ts';
import type { ApiError } from '../../kube/api-error.ts';
import type { World } from '../../kube/world.ts';
import type { AdmissionFinding, ClusterState, StepResult } from './cluster-state.ts';

/** The reason of a failure that this program detects: a dry run showed that admission has no effect. */
export const admissionNotInForce = 'AdmissionNotInForce';

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

/**
 * Counts adoptions, including those with an unknown result. A release resets the count: a later adoption is intended.
 */
export function noteAdoption(state: ClusterState, step: Step, uid: string, result: StepResult, world: World): void {
  if (step.kind === 'release' && result === 'done') state.adoptions = null;
  if (step.kind !== 'setStrategy' || (result !== 'done' && result !== 'unknown')) return;
  state.admissionProblem = null;
  const before = state.adoptions?.uid === uid ? state.adoptions.atMilliseconds : [];
  state.adoptions = { uid, atMilliseconds: [...before, world.monotonic()].slice(-mostAdoptions) };
}
