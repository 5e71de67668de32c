import { expect } from 'chai';
import type { MemberSight } from '../sight/sight.ts';
import { member as participating, sight } from '../sight/sights.ts';
import { DepartureWatch } from './departure-watch.ts';

/** It runs, and does not serve. */
const member = (ordinal: number, changes: Partial<MemberSight> = {}): MemberSight =>
  participating(ordinal, { ready: false, state: 'running', ...changes });

function complaintOf(...moments: readonly (readonly MemberSight[])[]): string | null {
  const watch = new DepartureWatch();
  for (const members of moments) watch.see(sight(0, { members }));
  return watch.complaint;
}

describe('the watch over members that go while none serves', () => {
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
    expect(complaint).to.equal('replica 2 went while no primary served, and no replica followed one');
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
