import { expect } from 'chai';
import { limitOf } from './limit.ts';
import type { Measure } from './measure.ts';
import { unavailable } from './sights.ts';

const moved = (fromMilliseconds: number, toMilliseconds: number): Measure['switchovers'][number] => ({
  from: 0,
  to: 1,
  fromMilliseconds,
  toMilliseconds,
});
const measure: Measure = {
  beganMilliseconds: 0,
  absences: [unavailable(2, 100, 2100), unavailable(1, 2200, 4300), unavailable(0, 5000, 7000)],
  switchovers: [moved(4400, 4800)],
};
const restartsAndMove = 2000 + 2100 + 2000 + 400;

describe('test/reality: the limit', () => {
  it('is every restart and one switchover, without gaps', () => {
    expect(limitOf(measure, 0, null)).to.equal(restartsAndMove);
  });

  it('has minReadySeconds between members, and none after the last', () => {
    expect(limitOf(measure, 5, null)).to.equal(restartsAndMove + 2 * 5000);
    expect(limitOf({ ...measure, absences: [unavailable(0, 0, 2000)], switchovers: [] }, 5, null)).to.equal(2000);
  });

  it('does not include avoidable work: a second restart of a member, a second switchover', () => {
    const more = {
      ...measure,
      absences: [...measure.absences, unavailable(1, 7100, 9900)],
      switchovers: [...measure.switchovers, moved(7100, 7200)],
    };
    expect(limitOf(more, 0, null)).to.equal(restartsAndMove);
  });

  it('includes the part of a backup in which nothing else happened', () => {
    expect(limitOf(measure, 0, { from: 200, to: 2150 })).to.equal(restartsAndMove + 50);
    expect(limitOf(measure, 0, { from: 200, to: 2000 })).to.equal(restartsAndMove);
    expect(limitOf(measure, 0, { from: 50, to: 4900 })).to.equal(restartsAndMove + 50 + 100 + 100 + 100);
  });
});
