import { expect } from 'chai';
import { beginObservation, type Observation, observed, restarted } from '../../../hack/bench-rollouts/observation.ts';
import type { MemberSight, Sight } from '../../../hack/demo/sight.ts';
import { healthyRollout, leaving, member, missing, sight, starting, updated } from '../demo/sights.ts';

function seen([first, ...rest]: readonly Sight[]): Observation {
  if (first === undefined) throw new Error('Expected a sight, got none');
  return rest.reduce(observed, beginObservation(first));
}

const of = (...members: readonly (readonly MemberSight[])[]): Observation =>
  seen(members.map((each, index) => sight(index * 100, { members: each })));

describe('hack/bench-rollouts: what is seen of a rollout', () => {
  it('is one member away at most and one move of the primary where all goes well', () => {
    expect(seen(healthyRollout())).to.include({ mostAway: 1, moves: 1, wholeSince: 7300 });
  });

  it('counts a member as away from leaving until it is back, a broken one too', () => {
    const broken = member(1, { ready: false, state: 'down' });
    expect(of([member(0), broken, member(2)], [member(0), broken, leaving(2)]).mostAway).to.equal(2);
    const started = starting(2);
    const recovering = { ...started, state: 'running' as const };
    const back = [member(0), member(1), updated(2)];
    const whole = of(back, [member(0), leaving(1), recovering], [member(0), missing(1), recovering], back);
    expect(whole).to.deep.include({ mostAway: 1, away: [] });
    expect(of([member(0), member(1), started], [member(0), leaving(1), recovering]).mostAway).to.equal(2);
  });

  it('does not count replicas that have lost their source, nor an impaired member', () => {
    const alone = (ordinal: number): MemberSight => member(ordinal, { ready: false, state: 'running' });
    expect(of([member(0), member(1), member(2)], [leaving(0), alone(1), alone(2)]).mostAway).to.equal(1);
    const impaired = member(1, { ready: false, state: 'impaired' });
    expect(of([member(0), impaired, member(2)], [member(0), impaired, leaving(2)]).mostAway).to.equal(1);
  });

  it('counts every move of the primary, however soon the next one comes', () => {
    const moved = [0, 1, 0, 2].map((primary, index) => sight(index, { primary }));
    expect(seen(moved).moves).to.equal(3);
  });

  it('is whole only for as long as nobody is lost again', () => {
    const all = [updated(0), updated(1), updated(2)];
    const lost = all.with(2, updated(2, { ready: false, state: 'running' }));
    expect(of(all, lost).wholeSince).to.equal(null);
    expect(of(all, lost, all, all).wholeSince).to.equal(200);
  });

  it('times anew from a correction on, and keeps what had been counted', () => {
    const before = of([member(0), member(1), member(2)], [member(0), leaving(1), leaving(2)]);
    const after = restarted(before, 150);
    expect(after).to.include({ mostAway: 2, changedAt: 150 });
    expect(after.measure).to.deep.equal({ beganMilliseconds: 150, absences: [], switchovers: [] });
  });

  it('has changed when a member or the roles have, and not when somebody has said something', () => {
    const saying = sight(300, { complete: true, status: { phase: 'Progressing' } });
    expect(seen([sight(100), saying]).changedAt).to.equal(100);
    expect(seen([sight(100), sight(200, { healthy: false }), sight(300, { healthy: false })]).changedAt).to.equal(200);
  });
});
