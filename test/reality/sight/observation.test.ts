import { expect } from 'chai';
import { beginObservation, type Observation, observed, restarted } from './observation.ts';
import type { MemberSight, Sight } from './sight.ts';
import { healthyRollout, member, missing, sight, starting, terminating, updated } from './sights.ts';

function seen([first, ...rest]: readonly Sight[]): Observation {
  if (first === undefined) throw new Error('Expected a sight, got none');
  return rest.reduce(observed, beginObservation(first));
}

const of = (...members: readonly (readonly MemberSight[])[]): Observation =>
  seen(members.map((each, index) => sight(index * 100, { members: each })));

describe('test/reality: the observation of a rollout', () => {
  it('has at most one unavailable member and one move of the primary if all goes well', () => {
    expect(seen(healthyRollout())).to.include({ mostUnavailable: 1, moves: 1, wholeSince: 7300 });
  });

  it('counts a member as unavailable from terminating until it is back, also a broken one', () => {
    const broken = member(1, { ready: false, state: 'down' });
    expect(of([member(0), broken, member(2)], [member(0), broken, terminating(2)]).mostUnavailable).to.equal(2);
    const started = starting(2);
    const recovering = { ...started, state: 'running' as const };
    const back = [member(0), member(1), updated(2)];
    const whole = of(back, [member(0), terminating(1), recovering], [member(0), missing(1), recovering], back);
    expect(whole).to.deep.include({ mostUnavailable: 1, unavailable: [] });
    expect(of([member(0), member(1), started], [member(0), terminating(1), recovering]).mostUnavailable).to.equal(2);
  });

  it('does not count replicas that have lost their source, nor an impaired member', () => {
    const alone = (ordinal: number): MemberSight => member(ordinal, { ready: false, state: 'running' });
    expect(of([member(0), member(1), member(2)], [terminating(0), alone(1), alone(2)]).mostUnavailable).to.equal(1);
    const impaired = member(1, { ready: false, state: 'impaired' });
    expect(of([member(0), impaired, member(2)], [member(0), impaired, terminating(2)]).mostUnavailable).to.equal(1);
  });

  it('counts every move of the primary, however soon the next one comes', () => {
    const moved = [0, 1, 0, 2].map((primary, index) => sight(index, { primary }));
    expect(seen(moved).moves).to.equal(3);
  });

  it('is complete only while no member is lost again', () => {
    const all = [updated(0), updated(1), updated(2)];
    const lost = all.with(2, updated(2, { ready: false, state: 'running' }));
    expect(of(all, lost).wholeSince).to.equal(null);
    expect(of(all, lost, all, all).wholeSince).to.equal(200);
  });

  it('restarts the time at a correction, and keeps the counts', () => {
    const before = of([member(0), member(1), member(2)], [member(0), terminating(1), terminating(2)]);
    const after = restarted(before, 150);
    expect(after).to.include({ mostUnavailable: 2, changedAt: 150 });
    expect(after.measure).to.deep.equal({ beganMilliseconds: 150, absences: [], switchovers: [] });
  });

  it('changes with a member or the roles, not with reported messages', () => {
    const saying = sight(300, { complete: true, status: { phase: 'Progressing' } });
    expect(seen([sight(100), saying]).changedAt).to.equal(100);
    expect(seen([sight(100), sight(200, { healthy: false }), sight(300, { healthy: false })]).changedAt).to.equal(200);
  });
});
