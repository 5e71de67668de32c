import { expect } from 'chai';
import * as fc from 'fast-check';
import { durationText, timeText } from '../../../src/core/fleet/times.ts';

describe('a time of a fleet', () => {
  it('is written as everywhere in Kubernetes, for every second of 400 years', () => {
    const from = Date.UTC(1970, 0, 1) / 1000;
    const to = Date.UTC(2370, 0, 1) / 1000;
    fc.assert(
      fc.property(fc.integer({ min: from, max: to }), (seconds) => {
        expect(timeText(seconds)).to.equal(new Date(seconds * 1000).toISOString().replace('.000Z', 'Z'));
      }),
    );
    expect(timeText(Date.UTC(2028, 1, 29, 23, 59, 59) / 1000)).to.equal('2028-02-29T23:59:59Z');
    expect(timeText(Date.UTC(2100, 1, 28, 12) / 1000 + 43_200)).to.equal('2100-03-01T00:00:00Z');
  });

  it('is rounded up, so that it never names a moment at which nothing has changed yet', () => {
    expect(timeText(0.001)).to.equal('1970-01-01T00:00:01Z');
  });
});

describe('a duration of a fleet', () => {
  const texts: readonly (readonly [number, string])[] = [
    [0, '0s'],
    [90, '1m30s'],
    [3600, '1h'],
    [86_401, '24h1s'],
  ];
  for (const [seconds, text] of texts)
    it(`of ${seconds} s is ${text}`, () => expect(durationText(seconds)).to.equal(text));
});
