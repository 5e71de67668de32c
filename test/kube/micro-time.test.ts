import { expect } from 'chai';
import * as fc from 'fast-check';
import { microTime } from '../../src/kube/micro-time.ts';
import { patienceMilliseconds } from './patience.ts';

describe('a MicroTime', function suite() {
  this.timeout(patienceMilliseconds);

  it('is what Date would say, with microseconds', () => {
    const moment = fc.date({ min: new Date('1900-01-01'), max: new Date('2500-01-01'), noInvalidDate: true });
    fc.assert(
      fc.property(moment, (date) => {
        expect(microTime(date.getTime())).to.equal(date.toISOString().replace('Z', '000Z'));
      }),
      { numRuns: 1000 },
    );
  });

  for (const date of ['1970-01-01', '2000-02-29', '2100-02-28', '2100-03-01', '2024-12-31', '2400-02-29']) {
    it(`is right on ${date}`, () => {
      expect(microTime(Date.parse(date))).to.equal(`${date}T00:00:00.000000Z`);
    });
  }

  it('leaves out what is less than a millisecond', () => {
    expect(microTime(1.9)).to.equal('1970-01-01T00:00:00.001000Z');
  });
});
