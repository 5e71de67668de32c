import type { Intent } from '../../api/rollout-status.ts';
import type { Step } from '../../core/decision.ts';
import type { StepFailure } from '../../core/snapshot.ts';
import { stepIdentity } from '../../core/step.ts';
import { ApiError, isTooManyRequests } from '../../kube/api-error.ts';
import type { RunResult } from '../../kube/work-queue.ts';
import type { StepAnswer } from '../../objects/execute.ts';
import type { InPlaceDryRun } from '../questions/in-place-facts.ts';
import type { AdmissionFinding } from './memory.ts';
import type { Observation } from './observe.ts';
import type { Pass } from './pass.ts';

// How a pass ends, and when the next pass follows.

export interface Acted extends StepAnswer {
  readonly kind: 'acted';
  readonly observation: Observation;
  readonly step: Step;
  /** The intent of the step; `null` if the step does not disrupt a member. */
  readonly intent: Intent | null;
}

/**
 * Whether an eviction was refused with status 429. The API server answers 429 because of a budget, and so do webhooks
 * that protect pods from eviction.
 */
export const isRefusedByBudget = ({ kind }: Step, { result, failure }: StepAnswer): boolean =>
  kind === 'evict' && result === 'refused' && isTooManyRequests(failure);

type Outcome =
  | Acted
  /** No step was due, or the step has to wait for a later pass. */
  | { readonly kind: 'nothing' }
  /** An intent is settled: its step has happened, or can no longer happen. */
  | { readonly kind: 'settled'; readonly intent: Intent }
  /**
   * Nothing was sent. If there is an `intent`, it was written for the step. If there is an `error`, the pass rejects
   * with it once the failure is reported.
   */
  | { readonly kind: 'failed'; readonly failure: StepFailure; readonly intent?: Intent; readonly error?: ApiError }
  /** Dry runs of updates in place were made. */
  | {
      readonly kind: 'inPlace';
      readonly revision: string;
      readonly answers: readonly InPlaceDryRun[];
    }
  /** A dry run had an unexpected result, so no step was attempted. */
  | { readonly kind: 'admission'; readonly mode: AdmissionFinding['mode']; readonly error: ApiError };

/** How a pass ended, and when the next pass follows. */
export type End = Outcome &
  RunResult & {
    /**
     * What to report: a fresh observation, or the cached one. `null` if another pass follows immediately, or if the
     * cluster no longer exists.
     */
    readonly report: Observation | 'cached' | null;
  };

export const nothingToReport: End = { kind: 'nothing', report: null };
/** Another pass follows immediately. */
export const again = { report: null, requeueAfterMilliseconds: 0 } as const;
/** The delay before the next pass if a fresh read did not allow the step. Usually a watch event arrives earlier. */
export const vetoed: RunResult = { requeueAfterMilliseconds: 1000 };

/** The name under which failures of a step are counted. */
export const identityOfStep = (step: Step, { objects: { statefulSet } }: Observation): string =>
  stepIdentity(step, statefulSet?.updateRevision ?? '');

const firstFailure = { tries: 1, sinceLastTrySeconds: 0, retryAfterSeconds: 0 } as const;

export const tooSlow = (step: Step, observation: Observation): StepFailure => ({
  ...firstFailure,
  step: identityOfStep(step, observation),
  cause: 'tooSlow',
  message:
    'reading everything again, writing the intent and sending the step took longer than --confirmation-timeout allows',
});

/** A failure of a step, made from the API server's response. `step` is `null` if no step could be decided. */
export const refusedBy = ({ message, retryAfterSeconds }: ApiError, step: string | null): StepFailure => ({
  ...firstFailure,
  step,
  cause: 'refused',
  message,
  ...(retryAfterSeconds && { retryAfterSeconds }),
});

/**
 * Ends the pass because the API server refused a request. No step may be performed before the refusal is reported.
 * Throws any other error, for example after a shutdown or a lost lease. If `step` is `null`, the pass rejects once the
 * refusal is reported.
 */
export function failedBy(error: unknown, { context, signal }: Pass, step: string | null): End {
  if (!(error instanceof ApiError) || signal.aborted || !context.isLeading()) throw error;
  return { kind: 'failed', report: 'cached', failure: refusedBy(error, step), ...(step === null && { error }) };
}

/**
 * Whether the step updates in place a primary that has replicas. Replacing its pod would have required a switchover.
 */
export const sparesSwitchover = (step: Step, { cluster }: Observation['objects']): boolean =>
  step.kind === 'updateInPlace' && cluster.replicas > 1 && step.targets[0].ordinal === cluster.primaryIndex;
