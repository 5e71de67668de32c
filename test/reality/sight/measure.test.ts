import { expect } from 'chai';
import { lasted } from './measure.ts';
import { healthyRollout, measureOf, member, missing, sight, starting, terminating, updated } from './sights.ts';

describe('test/reality: measurements of a rollout', () => {
  it('counts a member as unavailable from its deletionTimestamp until its next pod is ready and has a role', () => {
    const { absences } = measureOf([
      sight(10),
      sight(20, { members: [member(0), member(1), terminating(2)] }),
      sight(30, { members: [member(0), member(1), missing(2)] }),
      sight(40, { members: [member(0), member(1), starting(2)] }),
      sight(50, { members: [member(0), member(1), updated(2, { role: null })] }),
      sight(60, { members: [member(0), member(1), updated(2)] }),
      sight(70, { members: [member(0), member(1), updated(2)] }),
    ]);
    expect(absences).to.deep.equal([{ ordinal: 2, name: 'moco-test-2', fromMilliseconds: 20, toMilliseconds: 60 }]);
  });

  it('counts a member twice that is disrupted twice', () => {
    const unavailable = { members: [member(0), member(1), terminating(2)] };
    const { absences } = measureOf([sight(1), sight(2, unavailable), sight(5), sight(6, unavailable), sight(10)]);
    expect(absences.map(lasted)).to.deep.equal([3, 4]);
  });

  it('ends a switchover with the roles of a Healthy and Available cluster, not with the index', () => {
    const { switchovers } = measureOf(healthyRollout());
    expect(switchovers).to.deep.equal([{ from: 0, to: 1, fromMilliseconds: 4700, toMilliseconds: 5100 }]);
  });

  it('begins a switchover with the deletion of a primary without a demotion', () => {
    const gone = { members: [terminating(0), member(1), member(2)] };
    const roles = [member(1, { role: 'primary' }), member(2)];
    const { switchovers } = measureOf([
      sight(1),
      sight(2, gone),
      sight(3, { ...gone, primary: 1 }),
      sight(4, { members: [missing(0), ...roles], primary: 1 }),
    ]);
    expect(switchovers).to.deep.equal([{ from: 0, to: 1, fromMilliseconds: 2, toMilliseconds: 4 }]);
  });

  it('ignores a demotion that was cancelled before the primary moved', () => {
    const demoted = { members: [member(0, { demoted: true }), member(1), member(2)] };
    expect(measureOf([sight(1), sight(2, demoted)]).switchovers).to.have.length(1);
    expect(measureOf([sight(1), sight(2, demoted), sight(3)]).switchovers).to.deep.equal([]);
  });

  it('sees no switchover in the restart of a single member', () => {
    const single = { members: [terminating(0)] };
    expect(measureOf([sight(1, { members: [member(0)] }), sight(2, single)]).switchovers).to.deep.equal([]);
  });
});
