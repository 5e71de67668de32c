import type { Deadlines } from './deadlines.ts';
import type { RolloutPolicy } from './policy.ts';
import { type HoldRule, isOverridable } from './rules/catalogue.ts';

const none: ReadonlySet<HoldRule> = new Set();

/** The rules that are switched off at the moment. A rule that cannot be overridden stays on, whatever the policy says. */
export function overriddenRules({ overrides }: RolloutPolicy, deadlines: Deadlines): ReadonlySet<HoldRule> {
  if (overrides.length === 0) return none;
  return new Set(
    overrides
      .filter(({ rule, remainingSeconds }) => isOverridable(rule) && !deadlines.reached(0, remainingSeconds))
      .map(({ rule }) => rule),
  );
}
