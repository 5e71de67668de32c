import type { Step } from '../core/decision.ts';
import type { ApiError } from '../kube/api-error.ts';
import type { World } from '../kube/world.ts';
import { admissionNotInForce } from './adopt.ts';
import type { AdmissionFinding, ClusterState, StepResult } from './cluster-state.ts';

/** More say nothing more: by then adoptions are as rare as they get. */
const mostAdoptions = 10;

/** What a dry run has shown. A failure that is not about admission says nothing of it. */
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

/** An adoption that may have happened counts. A release ends the count: what is adopted after it was wanted again. */
export function noteAdoption(state: ClusterState, step: Step, uid: string, result: StepResult, world: World): void {
  if (step.kind === 'handBack' && result === 'done') state.adoptions = null;
  if (step.kind !== 'setStrategy' || (result !== 'done' && result !== 'unknown')) return;
  state.admissionProblem = null;
  const before = state.adoptions?.uid === uid ? state.adoptions.atMilliseconds : [];
  state.adoptions = { uid, atMilliseconds: [...before, world.monotonic()].slice(-mostAdoptions) };
}
