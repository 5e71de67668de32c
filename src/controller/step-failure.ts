import type { StepFailure } from '../core/snapshot.ts';
import { ApiError } from '../kube/api-error.ts';
import type { World } from '../kube/world.ts';
import type { ClusterState, FailedStep } from './cluster-state.ts';
import type { Context } from './context.ts';

/** Remembers that a step did not happen, `null` for one that is not settled. Only the same step fails in a row. */
export function noteFailure(
  state: ClusterState,
  step: FailedStep['step'],
  failure: Pick<FailedStep, 'cause' | 'message' | 'retryAfterSeconds'>,
  world: World,
): void {
  const { stepFailure: before } = state;
  const tries = before?.step === step ? before.tries + 1 : 1;
  state.stepFailure = { step, ...failure, tries, atMilliseconds: world.monotonic() };
}

/** What the API server has answered, as the failure of a step. */
export function refusedBy({
  message,
  retryAfterSeconds,
}: ApiError): Pick<FailedStep, 'cause' | 'message' | 'retryAfterSeconds'> {
  return { cause: 'refused', message, retryAfterSeconds: retryAfterSeconds ?? 0 };
}

/** Whether the API server is the cause, and not that this process shuts down or no longer leads. */
export function isItsDoing(error: unknown, { isLeading }: Context, signal: AbortSignal): error is ApiError {
  return error instanceof ApiError && !signal.aborted && isLeading();
}

export function stepFailureFacts(failed: FailedStep | null, world: World): StepFailure | null {
  if (failed === null) return null;
  const { atMilliseconds, ...facts } = failed;
  return { ...facts, sinceLastTrySeconds: (world.monotonic() - atMilliseconds) / 1000 };
}
