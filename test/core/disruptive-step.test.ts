import { expect } from 'chai';
import type { Step, Target } from '../../src/core/decision.ts';
import { stepKinds } from '../../src/core/effects.ts';
import { isDisruptive, ruleOf, stepIdentity } from '../../src/core/step.ts';

const targets: readonly [Target] = [{ ordinal: 0, name: 'moco-test-0', uid: 'uid', resourceVersion: '1' }];
const revision = 'moco-test-2';
const undemote = { kind: 'undemote', targets, reason: 'TimedOut', demoted: true } as const;
const change = { resources: [], resized: [], labels: {}, annotations: {}, containers: [], initContainers: [] };

/** It takes a member or blocks writes, or ends that. */
describe('a step that is confirmed before it is done', () => {
  const steps: readonly (readonly [step: Step, rule: string | null])[] = [
    [{ kind: 'delete', rule: 'MemberDown', targets }, 'MemberDown'],
    [{ kind: 'evict', rule: 'ReplicaHealthy', targets }, 'ReplicaHealthy'],
    [{ kind: 'updateInPlace', rule: 'NothingRestarts', targets, revision, change }, 'NothingRestarts'],
    [
      { kind: 'resizeInPlace', rule: 'ResizeRestartsNothing', targets, revision, resources: [] },
      'ResizeRestartsNothing',
    ],
    [{ kind: 'demote', rule: 'PrimaryLast', targets, mark: revision }, 'PrimaryLast'],
    [undemote, 'TimedOut'],
    [{ ...undemote, demoted: false }, null],
    [{ kind: 'restore', rule: 'RestoreRequested', targets }, 'RestoreRequested'],
    [{ kind: 'setPartition', rule: 'AlreadyUpdated', partition: 1, targets: [] }, 'AlreadyUpdated'],
    [{ kind: 'none' }, null],
    [{ kind: 'setStrategy', newPods: 'UpdateRevision' }, null],
    [{ kind: 'release' }, null],
    [{ kind: 'promoteRevision', revision, replicas: 3, for: 'start', before: targets }, null],
  ];
  for (const [step, rule] of steps) {
    it(`${step.kind} ${rule === null ? 'is none' : `has the rule ${rule}`}`, () => {
      expect(isDisruptive(step) ? ruleOf(step) : null).to.equal(rule);
    });
  }

  it('is known of every kind', () => {
    expect([...new Set(steps.map(([{ kind }]) => kind))]).to.have.members(stepKinds);
  });
});

describe('a step', () => {
  it('is another one with another partition', () => {
    const step = { kind: 'setPartition', rule: 'AlreadyUpdated', partition: 2, targets: [] } as const;
    expect(stepIdentity(step, 'b')).to.equal('setPartition 2 b');
  });
});
