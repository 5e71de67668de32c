import { expect } from 'chai';
import type { Step, Target } from '../../src/core/decision.ts';
import { isDisruptive, ruleOf } from '../../src/core/step.ts';

const targets: readonly [Target] = [{ ordinal: 0, name: 'moco-test-0', uid: 'uid', resourceVersion: '1' }];
const undemote = { kind: 'undemote', targets, reason: 'TimedOut', demoted: true } as const;

describe('a step that is confirmed before it is done', () => {
  const steps: readonly (readonly [step: Step, rule: string | null])[] = [
    [{ kind: 'evict', rule: 'ReplicaHealthy', targets }, 'ReplicaHealthy'],
    [undemote, 'TimedOut'],
    [{ ...undemote, demoted: false }, null],
    [{ kind: 'release' }, null],
  ];
  for (const [step, rule] of steps) {
    it(`${step.kind} ${rule === null ? 'is none' : `has the rule ${rule}`}`, () => {
      expect(isDisruptive(step) ? ruleOf(step) : null).to.equal(rule);
    });
  }
});
