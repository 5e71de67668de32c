import { decide } from '../core/decide.ts';
import type { Decision } from '../core/decision.ts';
import { type Gathered, gather } from './gather.ts';

/** The facts about a cluster at one moment, and what is decided about them. */
export interface Observation extends Gathered {
  readonly decision: Decision;
}

/** As `gather`, with its decision. */
export function observe(...facts: Parameters<typeof gather>): Observation {
  const gathered = gather(...facts);
  return { ...gathered, decision: decide(gathered.snapshot, gathered.policy) };
}
