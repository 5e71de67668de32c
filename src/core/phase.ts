import type { Decision } from './decision.ts';
import { rules } from './rules/catalogue.ts';
import type { RulePhase } from './rules/rule.ts';

/** The state of a cluster in one word, for people. Programs read the conditions. */
export type Phase = 'UpToDate' | 'Progressing' | 'Waiting' | RulePhase;

export function phase({ hold, stale }: Pick<Decision, 'hold' | 'stale'>): Phase {
  const ofRule = hold && rules[hold.rule].phase;
  if (ofRule) return ofRule;
  if (stale > 0) return 'Progressing';
  return hold === null ? 'UpToDate' : 'Waiting';
}
