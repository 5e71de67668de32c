import { decideBy } from '../../src/core/decide.ts';
import type { Decision, HoldRule, Step } from '../../src/core/decision.ts';
import { stepKinds } from '../../src/core/effects.ts';
import { type Guards, guards } from '../../src/core/gates.ts';
import { stepRules } from '../../src/core/step.ts';
import { violations } from './invariants.ts';
import type { State } from './near-examples.ts';
import { everyNeed } from './needs.ts';

// What the properties can see. A property that no sample reaches holds in vain: samples have to reach every kind of step,
// every rule, and every need. A rule is reached where the invariants object to what is decided without it; a need, where
// it is one of the objections.

/** Rules behind which another rule always holds for the same facts. The invariants object to both together. */
export const neverAlone: ReadonlySet<HoldRule> = new Set<HoldRule>([
  'SnapshotInconsistent',
  'SwitchoverInProgress',
  'MemberStuckTerminating',
  'MemberDownOutOfOrder',
  'MemberTerminating',
]);
/** They delay the next try of a step by the core's own name for it, of which facts say nothing. */
const aboutTheTry: ReadonlySet<HoldRule> = new Set<HoldRule>(['ConfirmationTooSlow', 'StepRefused']);
/** The choice of candidates meets them, and no rule: other members are never candidates. */
const metByChoice: ReadonlySet<string> = new Set([
  'changesInPlace needs changeable',
  'evict needs mustBeReplaced',
  'stops needs notRecovering',
]);
/** Their steps have rules, which are reached by themselves. */
const withRule: ReadonlySet<Step['kind']> = new Set<Step['kind']>([
  'delete',
  'evict',
  'updateInPlace',
  'resizeInPlace',
  'demote',
  'restore',
  'setPartition',
]);

export const guardsWithout = (...rules: readonly HoldRule[]): Guards =>
  new Map([...guards].filter(([rule]) => !rules.includes(rule)));

/** Collects what samples have reached. */
export class Coverage {
  readonly #unreached = new Set<string>([
    ...[...Object.keys(stepRules), ...stepKinds.filter((kind) => !withRule.has(kind))].map((name) => `step ${name}`),
    ...[...guards.keys()]
      .filter((rule) => !aboutTheTry.has(rule) && !neverAlone.has(rule))
      .map((rule) => `rule ${rule}`),
    ...everyNeed.filter((need) => !metByChoice.has(need)).map((need) => `need ${need}`),
  ]);

  /** What no sample has reached yet, by name. */
  get unreached(): readonly string[] {
    return [...this.#unreached];
  }

  add([snapshot, policy]: State, { step, hold: first }: Decision): void {
    if (this.#unreached.size === 0) return;
    this.#unreached.delete(`step ${'rule' in step ? step.rule : step.kind}`);
    const off: HoldRule[] = [];
    for (let hold = first; hold !== null && !off.includes(hold.rule); ) {
      off.push(hold.rule);
      const decision = decideBy(guardsWithout(...off), snapshot, policy);
      const objections = violations(snapshot, policy, decision);
      if (off.length === 1 && objections.length > 0) this.#unreached.delete(`rule ${hold.rule}`);
      for (const objection of objections) this.#unreached.delete(`need ${objection}`);
      ({ hold } = decision);
    }
  }
}
