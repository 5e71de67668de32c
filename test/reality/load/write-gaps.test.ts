import { expect } from 'chai';
import { WriteGaps } from './write-gaps.ts';

function gapsOf(began: number, acknowledged: readonly number[], end: number) {
  const gaps = new WriteGaps(began);
  for (const at of acknowledged) gaps.acknowledged(at);
  return gaps.until(end);
}

describe('write gaps', () => {
  it('are times of more than 250 ms between two acknowledgements, with their start', () => {
    expect(gapsOf(1000, [1010, 1260, 1511, 3400], 3410)).to.deep.equal([
      { fromMilliseconds: 1260, milliseconds: 251 },
      { fromMilliseconds: 1511, milliseconds: 1889 },
    ]);
  });

  it('begin with the load, and may last until its end', () => {
    expect(gapsOf(1000, [1400], 2000)).to.deep.equal([
      { fromMilliseconds: 1000, milliseconds: 400 },
      { fromMilliseconds: 1400, milliseconds: 600 },
    ]);
    expect(gapsOf(1000, [], 9000)).to.deep.equal([{ fromMilliseconds: 1000, milliseconds: 8000 }]);
  });

  it('are not there while acknowledgements of different writers come out of order', () => {
    expect(gapsOf(1000, [1200, 1190, 1420], 1430)).to.deep.equal([]);
  });
});
