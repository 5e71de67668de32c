import { expect } from 'chai';
import type { Change } from '../../verification/witness/moment.ts';
import type { WitnessedObject } from '../../verification/witness/objects.ts';
import { alarmsOf, type EventObject } from './alarms.ts';

function rollout(status: object): Change {
  const identity = { metadata: { name: 'test', uid: 'test', resourceVersion: '1' }, status } as WitnessedObject;
  return { revision: 1, atMilliseconds: 0, kind: 'MySQLRollout', object: identity, identity };
}

const event = (more: Partial<EventObject>): EventObject => ({
  metadata: { name: 'test.1' },
  type: 'Warning',
  reason: 'MemberStuckTerminating',
  note: 'it hangs',
  reportingController: 'moco-rollout',
  ...more,
});

describe('alarms', () => {
  it('are holds that a person has to look at, and times of being stalled, each once', () => {
    const stuck = rollout({ hold: { rule: 'MemberStuckTerminating', message: 'it hangs', since: '' } });
    const stalled = rollout({ conditions: [{ type: 'Stalled', status: 'True', reason: 'x', message: 'no progress' }] });
    expect(alarmsOf([stuck, stuck, stalled], [])).to.deep.equal([
      'held by MemberStuckTerminating: it hangs',
      'Stalled: no progress',
    ]);
  });

  it('are not the holds of every rollout', () => {
    const routine = rollout({
      hold: { rule: 'AwaitingSwitchover', message: 'waiting', since: '' },
      conditions: [{ type: 'Stalled', status: 'False', reason: 'x', message: '' }],
    });
    expect(alarmsOf([routine, rollout({})], [])).to.deep.equal([]);
  });

  it('are Warnings of this program alone', () => {
    const events = [event({}), event({}), event({ type: 'Normal' }), event({ reportingController: 'moco' })];
    expect(alarmsOf([], events)).to.deep.equal(['Warning MemberStuckTerminating: it hangs']);
  });
});
