import type { Decision } from './decision.ts';
import { type HoldRule, isAlarming, isRequestedByUser, isRoutine, rules } from './rules/catalogue.ts';
import type { RulePhase } from './rules/rule.ts';

/**
 * The state of a cluster in one word, for people. Programs read the conditions. `Waiting` is for what a user asked for,
 * or what may need a person; `Blocked` needs one; while it is `Settling`, every member is updated, and not all of them
 * work yet.
 */
export type Phase = 'UpToDate' | 'Progressing' | 'Waiting' | 'Blocked' | 'Settling' | RulePhase;

export function phase({
  hold,
  stale,
  complete,
  progressDeadlineExceeded,
}: Pick<Decision, 'hold' | 'stale' | 'complete' | 'progressDeadlineExceeded'>): Phase {
  const ofRule = hold && rules[hold.rule].phase;
  // A pause keeps nothing from a rollout that is complete.
  if (ofRule && !(complete && ofRule === 'Paused')) return ofRule;
  if (complete) return 'UpToDate';
  if (progressDeadlineExceeded || (hold !== null && isBlocking(hold.rule))) return 'Blocked';
  if (stale === 0) return 'Settling';
  return hold === null || isOfProgress(hold.rule) ? 'Progressing' : 'Waiting';
}

/** What MOCO, Kubernetes or the members are about to do. */
const isOfProgress = (rule: HoldRule): boolean =>
  isRoutine(rule) || (!isRequestedByUser(rule) && !rules[rule].endedBy.includes('a person'));

const isBlocking = (rule: HoldRule): boolean =>
  isAlarming(rule) || (!isRequestedByUser(rule) && rules[rule].endedBy.every((who) => who === 'a person'));
