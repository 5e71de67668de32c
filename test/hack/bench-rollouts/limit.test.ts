import { expect } from 'chai';
import { limitOf } from '../../../hack/bench-rollouts/limit.ts';
import type { Measure } from '../../../hack/demo/measure.ts';

const away = (ordinal: number, fromMilliseconds: number, toMilliseconds: number): Measure['absences'][number] => ({
  ordinal,
  name: `moco-test-${ordinal}`,
  fromMilliseconds,
  toMilliseconds,
});
const moved = (fromMilliseconds: number, toMilliseconds: number): Measure['switchovers'][number] => ({
  from: 0,
  to: 1,
  fromMilliseconds,
  toMilliseconds,
});
const measure: Measure = {
  beganMilliseconds: 0,
  absences: [away(2, 100, 2100), away(1, 2200, 4300), away(0, 5000, 7000)],
  switchovers: [moved(4400, 4800)],
};
const restartsAndMove = 2000 + 2100 + 2000 + 400;

describe('hack/bench-rollouts: the limit', () => {
  it('is every restart and one switchover, without what comes between them', () => {
    expect(limitOf(measure, 0, null)).to.equal(restartsAndMove);
  });

  it('has minReadySeconds between one member and the next, and none after the last', () => {
    expect(limitOf(measure, 5, null)).to.equal(restartsAndMove + 2 * 5000);
    expect(limitOf({ ...measure, absences: [away(0, 0, 2000)], switchovers: [] }, 5, null)).to.equal(2000);
  });

  it('does not grow by what could have been spared: a second restart of a member, a second switchover', () => {
    const more = {
      ...measure,
      absences: [...measure.absences, away(1, 7100, 9900)],
      switchovers: [...measure.switchovers, moved(7100, 7200)],
    };
    expect(limitOf(more, 0, null)).to.equal(restartsAndMove);
  });

  it('has of a backup what nothing else went on in', () => {
    expect(limitOf(measure, 0, { from: 200, to: 2150 })).to.equal(restartsAndMove + 50);
    expect(limitOf(measure, 0, { from: 200, to: 2000 })).to.equal(restartsAndMove);
    expect(limitOf(measure, 0, { from: 50, to: 4900 })).to.equal(restartsAndMove + 50 + 100 + 100 + 100);
  });
});
