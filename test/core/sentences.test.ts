import { expect } from 'chai';
import { durationText, timeText } from '../../src/core/sentences.ts';

describe('a time of a fleet', () => {
  it('is written as everywhere in Kubernetes', () => {
    expect(timeText(Date.UTC(2028, 1, 29, 23, 59, 59) / 1000)).to.equal('2028-02-29T23:59:59Z');
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
