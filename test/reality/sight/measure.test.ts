import { expect } from 'chai';
import { type Absence, lasted, limitOf, type Switchover } from './measure.ts';
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

  it('is complete only while no member is lost again', () => {
    const all = [updated(0), updated(1), updated(2)];
    const lost = all.with(2, updated(2, { ready: false, state: 'running' }));
    const wholeSince = (...moments: readonly (typeof all)[]): number | null =>
      measureOf([sight(0), ...moments.map((members, index) => sight(100 * index, { members }))]).wholeSince;
    expect(wholeSince(all, lost)).to.equal(null);
    expect(wholeSince(all, lost, all, all)).to.equal(200);
    expect(measureOf(healthyRollout()).wholeSince).to.equal(7300);
  });
});

describe('test/reality: the limit', () => {
  const moved = (fromMilliseconds: number, toMilliseconds: number): Switchover => ({
    from: 0,
    to: 1,
    fromMilliseconds,
    toMilliseconds,
  });
  const unavailable = (ordinal: number, fromMilliseconds: number, toMilliseconds: number): Absence => ({
    ordinal,
    name: `moco-test-${ordinal}`,
    fromMilliseconds,
    toMilliseconds,
  });
  const absences = [unavailable(2, 100, 2100), unavailable(1, 2200, 4300), unavailable(0, 5000, 7000)];
  const switchovers = [moved(4400, 4800)];
  const restartsAndMove = 2000 + 2100 + 2000 + 400;

  it('is every restart and one switchover, without gaps', () => {
    expect(limitOf({ absences, switchovers }, 0)).to.equal(restartsAndMove);
  });

  it('has minReadySeconds between members, and none after the last', () => {
    expect(limitOf({ absences, switchovers }, 5)).to.equal(restartsAndMove + 2 * 5000);
    expect(limitOf({ absences: [unavailable(0, 0, 2000)], switchovers: [] }, 5)).to.equal(2000);
  });

  it('does not include avoidable work: a second restart of a member, a second switchover', () => {
    const more = {
      absences: [...absences, unavailable(1, 7100, 9900)],
      switchovers: [...switchovers, moved(7100, 7200)],
    };
    expect(limitOf(more, 0)).to.equal(restartsAndMove);
  });
});
