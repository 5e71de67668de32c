import { expect } from 'chai';
import * as fc from 'fast-check';
import { decide, decideBy } from '../../src/core/decide.ts';
import type { HoldRule, Step } from '../../src/core/decision.ts';
import { stepKinds } from '../../src/core/effects.ts';
import { type Guards, guards } from '../../src/core/gates.ts';
import { defaultPolicy, type RolloutPolicy } from '../../src/core/policy.ts';
import type { ClusterSnapshot } from '../../src/core/snapshot.ts';
import { stepRules } from '../../src/core/step.ts';
import { anyPolicy, plausibleSnapshot } from './arbitrary-snapshot.ts';
import { violations } from './invariants.ts';
import { everyExample } from './rules/every-example.ts';

// What the properties can see. A property holds for every sample in vain if no sample reaches the rule that it is about:
// here each rule is switched off, and the invariants have to object. Each step has to be reached as well.

const seed = Number(process.env['SEED'] ?? Math.floor(Math.random() * 2 ** 31));
const batch = 2000;
/** Far more than it takes to reach everything: what is rarer than this is not covered. */
const mostBatches = 100;
const patienceMilliseconds = 300_000;

/**
 * Rules behind which another rule always holds for the same facts, in the example and in every sample so far. The
 * invariants object to what both hold together.
 */
const neverAlone: ReadonlySet<HoldRule> = new Set<HoldRule>([
  'SnapshotInconsistent',
  'SwitchoverInProgress',
  'MemberStuckTerminating',
  'MemberDownOutOfOrder',
  'MemberTerminating',
]);
/** They delay the next try of a step by the core's own name for it, of which facts say nothing. */
const aboutTheTry: ReadonlySet<HoldRule> = new Set<HoldRule>(['ConfirmationTooSlow', 'StepRefused']);

const guardsWithout = (...rules: readonly HoldRule[]): Guards =>
  new Map([...guards].filter(([rule]) => !rules.includes(rule)));

/** Whether the invariants object to what is decided while the rule is switched off. */
const isNoticed = (rule: HoldRule, snapshot: ClusterSnapshot, policy: RolloutPolicy): boolean =>
  violations(snapshot, policy, decideBy(guardsWithout(rule), snapshot, policy)).length > 0;

const factsOf = ({ given }: (typeof everyExample)[number][1]['applies']): ClusterSnapshot =>
  'facts' in given ? given.facts() : given;

/** Everything that samples have to reach, and what of it none has reached yet. */
const nameOf = (step: Step): string => ('rule' in step ? step.rule : step.kind);
/** A restore has the rules of those that take members, which are reached by themselves. */
const withRule: readonly Step['kind'][] = [
  'delete',
  'evict',
  'updateInPlace',
  'resizeInPlace',
  'demote',
  'restore',
  'setPartition',
];

describe('what the properties cover', () => {
  const unnoticed = new Set<HoldRule>();
  for (const [rule, { applies }] of everyExample) {
    const policy = { ...defaultPolicy, ...applies.settings };
    if (!aboutTheTry.has(rule) && !neverAlone.has(rule) && !isNoticed(rule, factsOf(applies), policy))
      unnoticed.add(rule);
  }

  it('is every rule that a step needs, and every kind of step', () => {
    const unreached = new Set<string>([
      ...Object.keys(stepRules),
      ...stepKinds.filter((kind) => !withRule.includes(kind)),
    ]);
    for (let index = 0; index < mostBatches && (unreached.size > 0 || unnoticed.size > 0); index++) {
      const samples = fc.sample(fc.tuple(plausibleSnapshot, anyPolicy), { numRuns: batch, seed: seed + index });
      for (const [snapshot, policy] of samples) {
        const { step, hold } = decide(snapshot, policy);
        unreached.delete(nameOf(step));
        if (hold !== null && unnoticed.has(hold.rule) && isNoticed(hold.rule, snapshot, policy))
          unnoticed.delete(hold.rule);
      }
    }
    expect(
      [...unreached],
      `No sample reached these steps (SEED=${seed}): draw what leads to them more often in arbitrary-snapshot.ts`,
    ).to.deep.equal([]);
    expect(
      [...unnoticed],
      `Neither the example of these rules nor a sample shows what breaks without them (SEED=${seed}): state in needs.ts` +
        ' or invariants.ts what a step needs there, or draw their facts more often in arbitrary-snapshot.ts',
    ).to.deep.equal([]);
  }).timeout(patienceMilliseconds);

  for (const rule of neverAlone) {
    it(`${rule} never holds alone: another rule holds in its place, and the invariants object without both`, () => {
      const [, { applies }] = everyExample.find(([name]) => name === rule) ?? expect.fail(`no example of ${rule}`);
      const [facts, policy] = [factsOf(applies), { ...defaultPolicy, ...applies.settings }];
      const off: HoldRule[] = [rule];
      for (let { hold } = decideBy(guardsWithout(...off), facts, policy); hold !== null; ) {
        off.push(hold.rule);
        ({ hold } = decideBy(guardsWithout(...off), facts, policy));
      }
      expect(off.length).to.be.greaterThan(1);
      expect(violations(facts, policy, decideBy(guardsWithout(...off), facts, policy))).not.to.deep.equal([]);
    });
  }
});
