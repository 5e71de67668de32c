import { expect } from 'chai';
import { decide, decideBy } from '../../src/core/decide.ts';
import type { Hold, HoldRule } from '../../src/core/decision.ts';
import { type Gates, gates, guardsOf } from '../../src/core/gates.ts';
import { defaultPolicy, type Override } from '../../src/core/policy.ts';
import { explainHold, isOverridable } from '../../src/core/rules/catalogue.ts';
import { everyExample } from './rules/every-example.ts';
import { expectSentences } from './sentence-forms.ts';
import { check, holds } from './table.ts';

/** Waits that a user has requested: they do not count as a lack of progress. */
const requested: readonly string[] = [
  'NoReplicaElsewhere',
  'AwaitingNodeMaintenance',
  'ClusterDeleting',
  'Released',
  'ReconciliationStopped',
  'ClusteringStopped',
  'Offline',
  'ForcedRollingUpdate',
  'Paused',
  'SequenceGone',
  'StageFailing',
  'AwaitingEarlierStage',
  'AwaitingSoak',
  'AwaitingSettle',
  'AwaitingStageSlot',
  'FleetFailing',
  'AwaitingFleetSlot',
  'AwaitingFleetInterval',
  'PrimaryWaitsForPinned',
  'RestartNeeded',
  'AwaitingApproval',
  'PartitionReached',
  'OutsideMaintenanceWindow',
  'Blackout',
];

const without = (rule: HoldRule): Gates =>
  Object.fromEntries(
    Object.entries(gates).map(([kind, rules]) => [kind, rules.filter((one) => one !== rule)]),
  ) as unknown as Gates;

describe('every hold', () => {
  for (const [rule, { applies, says, justDoesNot, alsoSays = [] }] of everyExample) {
    const { given, settings, shows } = applies;
    const facts = 'facts' in given ? given.facts() : given;
    const policy = { ...defaultPolicy, ...settings };
    const hold = { rule, ...shows } as Hold;
    const decideWith = (...overrides: readonly Override[]) => {
      const decision = decide(facts, { ...policy, overrides });
      return { step: decision.step, hold: decision.hold };
    };
    const decideWithout = () => {
      const decision = decideBy(guardsOf(without(rule)), facts, policy);
      return { step: decision.step, hold: decision.hold };
    };
    it(`${rule} applies`, () => check({ ...applies, decides: holds(hold) }));
    it(`${rule} just does not`, () => check(justDoesNot));
    it(`${rule} has a sentence`, () =>
      expectSentences<object>([hold, says, ...alsoSays], (form) =>
        explainHold({ rule, ...form } as Hold, (ordinal) => `moco-test-${ordinal}`),
      ));
    const isLate = !requested.includes(rule);
    it(`${rule} is ${isLate ? '' : 'not '}late after the progress deadline`, () => {
      const memory = { ...facts.memory, sinceProgressSeconds: 9999 };
      const { hold, progressDeadlineExceeded } = decide({ ...facts, memory }, policy);
      expect([hold?.rule, progressDeadlineExceeded]).to.deep.equal([rule, isLate]);
    });
    it(`${rule} ${isOverridable(rule) ? 'is as if it were in no gate' : 'holds all the same'} while it is overridden`, () => {
      const override = { rule, remainingSeconds: 1 };
      expect(decideWith(override)).to.deep.equal(isOverridable(rule) ? decideWithout() : decideWith());
      if (!isOverridable(rule)) return;
      const { requeueAfterSeconds } = decide(facts, { ...policy, overrides: [override] });
      expect(requeueAfterSeconds, 'when the override ends').to.be.within(0, 1);
    });
    it(`${rule} holds once its override has ended, and while another rule is overridden`, () => {
      for (const remainingSeconds of [0, -1])
        expect(decideWith({ rule, remainingSeconds })).to.deep.equal(decideWith());
      const another = rule === 'ForeignDemote' ? 'BackupRunning' : 'ForeignDemote';
      expect(decideWith({ rule: another, remainingSeconds: 60 })).to.deep.equal(decideWith());
    });
    it(`${rule} is not forgotten in the table of gates: nothing else holds in its place`, () => {
      expect(decideWithout().hold?.rule).not.to.equal(rule);
    });
  }
});
