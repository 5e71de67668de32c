import { expect } from 'chai';
import type { MemberSight, Sight } from '../sight/sight.ts';
import { DepartureWatch } from './departure-watch.ts';

function member(ordinal: number, changes: Partial<MemberSight> = {}): MemberSight {
  const name = `moco-test-${ordinal}`;
  const role = ordinal === 0 ? 'primary' : 'replica';
  const state = { terminating: false, state: 'running', demoted: false } as const;
  return { ordinal, name, uid: `${name}-old`, revision: 'one', role, ready: false, ...state, ...changes };
}

function complaintOf(...moments: readonly (readonly MemberSight[])[]): string | null {
  const watch = new DepartureWatch();
  for (const members of moments) watch.see({ members, primary: 0 } as unknown as Sight);
  return watch.complaint;
}

describe('the watch over who goes while no member serves', () => {
  it('has nothing against a primary that goes alone, and replicas that go once it serves again', () => {
    const [going, back] = [member(0, { terminating: true }), member(0, { uid: 'moco-test-0-new', ready: true })];
    const complaint = complaintOf(
      [member(0), member(1), member(2)],
      [going, member(1), member(2)],
      [member(0, { uid: null, role: null }), member(1), member(2)],
      [back, member(1), member(2)],
      [back, member(1), member(2, { terminating: true })],
    );
    expect(complaint).to.equal(null);
  });

  it('complains of a replica that goes while no primary serves', () => {
    const complaint = complaintOf([member(0), member(1), member(2, { terminating: true })]);
    expect(complaint).to.equal('replica 2 went while no primary served, and nobody followed one');
  });

  it('has nothing against a replica that goes while another one follows the primary', () => {
    const complaint = complaintOf([member(0), member(1, { ready: true }), member(2, { terminating: true })]);
    expect(complaint).to.equal(null);
  });

  it('complains of members that are away together', () => {
    const complaint = complaintOf([
      member(0, { ready: true }),
      member(1, { uid: null }),
      member(2, { terminating: true }),
    ]);
    expect(complaint).to.equal('members 1, 2 were away at the same time');
  });

  it('does not judge a replica again that was led when it went', () => {
    const going = member(2, { terminating: true });
    const complaint = complaintOf([member(0, { ready: true }), member(1), going], [member(0), member(1), going]);
    expect(complaint).to.equal(null);
  });
});
