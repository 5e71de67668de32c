import type { Hold, Step } from './decision.ts';
import { type Outcome, type Situation, wait } from './situation.ts';

const longestRetryDelaySeconds = 30;

/** How long the same step waits after so many failures in a row: 2 s, 4 s, 8 s, 16 s, then 30 s. */
const retryDelaySeconds = (tries: number): number => Math.min(2 ** tries, longestRetryDelaySeconds);

/** Identifies a step: what it does, to which pods, for which update revision. */
export function stepIdentity(step: Step, updateRevision: string): string {
  const uids = 'targets' in step ? step.targets.map(({ uid }) => uid) : [];
  const partition = step.kind === 'setPartition' ? [step.partition] : [];
  return [step.kind, ...uids, ...partition, updateRevision].join(' ');
}

/**
 * A step that the API server was too slow for, or did not carry out, waits before it is tried again. Any other step
 * goes on, unless an earlier step may still happen: then no step is done before that is known.
 */
export function stepFailing(situation: Situation, outcome: Outcome | null): Outcome | null {
  const { stepFailure: failure, statefulSet } = situation.snapshot;
  const step = outcome?.step ?? null;
  if (failure === null || step === null || step.kind === 'none') return outcome;
  const hold: Hold = {
    rule: failure.cause === 'tooSlow' ? 'ConfirmationTooSlow' : 'StepRefused',
    message: failure.message,
  };
  if (failure.step === null) return wait(hold);
  if (failure.step !== stepIdentity(step, statefulSet?.updateRevision ?? '')) return outcome;
  const delaySeconds = Math.max(retryDelaySeconds(failure.tries), failure.retryAfterSeconds);
  return situation.deadlines.reached(failure.sinceLastTrySeconds, delaySeconds) ? outcome : wait(hold);
}
