import { ApiError, isForbidden } from '../../kube/api-error.ts';
import type { Session } from '../cluster/session.ts';
import { sentenceOf } from '../command-error.ts';

export interface Finding {
  readonly about: string;
  /** `unknown`: the user may not read what would tell. */
  readonly result: 'ok' | 'failed' | 'unknown';
  /** What was found, and for a failure what to do. */
  readonly sentence: string;
}

export interface Check {
  readonly about: string;
  readonly find: (session: Session) => Promise<Found>;
}

export type Found = Omit<Finding, 'about'>;
export const ok = (sentence: string): Found => ({ result: 'ok', sentence });
export const failed = (sentence: string): Found => ({ result: 'failed', sentence });
export const unknown = (sentence: string): Found => ({ result: 'unknown', sentence });

/** Rejects if the API server does not answer: then no other check can find anything either. */
export async function findingOf({ about, find }: Check, session: Session): Promise<Finding> {
  try {
    return { about, ...(await find(session)) };
  } catch (error) {
    if (error instanceof ApiError && isForbidden(error)) return { about, ...unknown(sentenceOf(error)) };
    throw error;
  }
}
