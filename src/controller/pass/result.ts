import type { Intent } from '../../api/rollout-status.ts';
import type { Step, Target } from '../../core/decision.ts';
import { ApiError } from '../../kube/api-error.ts';
import type { AdmissionFinding, StrategyKeeper } from '../facts/admission.ts';
import type { StepResult } from '../facts/ended-step.ts';
import type { FailedStep } from '../facts/known.ts';
import type { OwnWrite } from '../facts/own-writes.ts';
import type { Observation } from './observe.ts';

/** The outcome of a step. */
export interface Acted {
  readonly result: StepResult;
  /** The targets that the step was done to. */
  readonly done: readonly Target[];
  readonly ownWrites: readonly OwnWrite[];
  /** The API server's message if it refused the step, otherwise `null`. */
  readonly message: string | null;
  /** Whether an eviction was answered with 429. */
  readonly refusedByBudget: boolean;
  /** Whether the step was not sent because the confirmation was too old. */
  readonly tooLate: boolean;
  /** The error to retry after a delay, if an immediate retry would fail in the same way. */
  readonly failure: ApiError | null;
  /** Who keeps the strategy of the StatefulSet, if a dry run of the step has shown it. */
  readonly strategyKeeper?: StrategyKeeper;
}

/** A step that was sent, or was about to be sent. */
export interface ActedStep {
  readonly kind: 'acted';
  /** The observation that the step was decided from. */
  readonly observation: Observation;
  readonly step: Step;
  /** Identifies the step when its failures are counted. */
  readonly identity: string;
  /** `null` if the step does not disrupt a member. */
  readonly intent: Intent | null;
  readonly acted: Acted;
}

/** The result of a reconciliation, for later ones. */
export type Result =
  | ActedStep
  /** An intent is settled: its step has happened, or can no longer happen. */
  | { readonly kind: 'settled'; readonly intent: Intent }
  /** No intent blocks the next step, and a MySQLRollout exists. */
  | { readonly kind: 'prepared' }
  /** Nothing was sent. `step` is `null` if none could be decided; `intent` was written for it. */
  | {
      readonly kind: 'failed';
      readonly step: FailedStep['step'];
      readonly failure: StepFailed;
      readonly intent?: Intent;
    }
  /** Updates in place were tried as dry runs. */
  | {
      readonly kind: 'inPlace';
      readonly revision: string;
      /** The answers to dry runs, by the uid of the pod: the API server's words, or `null` if it accepts. */
      readonly answers: readonly { readonly uid: string; readonly refusal: string | null }[];
    }
  /** A dry run had an unexpected result: no step was tried. */
  | { readonly kind: 'admission'; readonly mode: AdmissionFinding['mode']; readonly error: ApiError };

export type StepFailed = Pick<FailedStep, 'cause' | 'message' | 'retryAfterSeconds'>;

/** The API server's response as the failure of a step. */
export function refusedBy({ message, retryAfterSeconds }: ApiError): StepFailed {
  return { cause: 'refused', message, retryAfterSeconds: retryAfterSeconds ?? 0 };
}

/** Whether the API server caused the error, and not a shutdown or a lost lease. */
export function isApiServerFailure(
  error: unknown,
  { isLeading }: { readonly isLeading: () => boolean },
  signal: AbortSignal,
): error is ApiError {
  return error instanceof ApiError && !signal.aborted && isLeading();
}

/** An update in place of the primary of several members. To replace its pod would have taken a switchover. */
export const sparesSwitchover = (step: Step, { cluster }: Observation['objects']): boolean =>
  step.kind === 'updateInPlace' && cluster.replicas > 1 && step.targets[0].ordinal === cluster.primaryIndex;

/**
 * The maximum age of a confirmation: twice what an API server takes that is busy with a whole fleet. A confirmation
 * that is too old is repeated, and makes it busier still (docs/decisions/0023).
 */
export const confirmationMilliseconds = 2000;

export const tooSlow: StepFailed = {
  cause: 'tooSlow',
  message: `reading everything again, writing the intent and sending the step took more than ${confirmationMilliseconds} ms`,
  retryAfterSeconds: 0,
};
