import { ApiError, isForbidden } from '../../kube/api-error.ts';
import type { Session } from '../cluster/session.ts';
import { CommandError, sentenceOf } from '../command-error.ts';

/** What a check has found. */
export interface Found {
  /**
   * `warning`: nothing is broken, but the setup may not be intended. `unknown`: the user lacks the rights for the
   * check.
   */
  readonly result: 'ok' | 'warning' | 'failed' | 'unknown';
  /** What was found and, for a failure, what to do. */
  readonly sentence: string;
}

export const ok = (sentence: string): Found => ({ result: 'ok', sentence });
export const warning = (sentence: string): Found => ({ result: 'warning', sentence });
export const failed = (sentence: string): Found => ({ result: 'failed', sentence });
export const unknown = (sentence: string): Found => ({ result: 'unknown', sentence });

/** Rejects if the API server does not answer, because then no other check can find anything either. */
export async function foundBy(check: (session: Session) => Promise<Found>, session: Session): Promise<Found> {
  try {
    return await check(session);
  } catch (error) {
    if (error instanceof ApiError && isForbidden(error)) return unknown(sentenceOf(error));
    // There is no such kind: MOCO is not installed, for example.
    if (error instanceof CommandError) return failed(error.message);
    throw error;
  }
}
