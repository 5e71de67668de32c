import type { Decision } from './decision.ts';
import { rules } from './rules/catalogue.ts';
import type { RulePhase } from './rules/rule.ts';

/** The state of a cluster in one word, for people. Programs read the conditions. */
export type Phase = 'UpToDate' | 'Progressing' | 'Waiting' | RulePhase;

export function phase({ hold, stale, complete }: Pick<Decision, 'hold' | 'stale' | 'complete'>): Phase {
  const ofRule = hold && rules[hold.rule].phase;
  if (ofRule) return ofRule;
  if (complete) return 'UpToDate';
  return stale > 0 || hold === null ? 'Progressing' : 'Waiting';
}
