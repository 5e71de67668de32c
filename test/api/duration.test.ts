import { expect } from 'chai';
import { rolloutSpec } from '../../src/api/rollout.ts';
import { sequenceSpec } from '../../src/api/rollout-sequence.ts';
import { problemOf, secondsOf } from '../../src/api/schema.ts';

describe('a duration', () => {
  const durations: readonly (readonly [unknown, number])[] = [
    ['90s', 90],
    ['5m', 300],
    ['4h', 14_400],
    ['1h30m', 5400],
    ['1h30m5s', 5405],
    ['0s', 0],
    [0, 0],
    [9_999_999, 9_999_999],
  ];
  for (const [written, seconds] of durations)
    it(`of ${JSON.stringify(written)} is ${seconds} s`, () => expect(secondsOf(written)).to.equal(seconds));

  for (const written of ['', '1d', '90', '1m1h', '1.5h', '-1s', ' 1s', -1, 1.5, 10_000_000, null, {}])
    it(`is not ${JSON.stringify(written)}, which every field refuses with the same sentence`, () => {
      expect(secondsOf(written)).to.equal(null);
      const window = { schedule: '0 1 * * *', duration: written };
      const said = [
        problemOf(sequenceSpec, { settleDuration: written, stages: [{ name: 'a' }] }, 'spec'),
        problemOf(sequenceSpec, { stages: [{ name: 'a', soakDuration: written }] }, 'spec'),
        problemOf(rolloutSpec, { maintenanceWindows: [window] }, 'spec'),
      ];
      const sentence =
        /^expected spec\.[^ ]+ to be a duration such as "90s", "5m" or "24h", or a whole number of seconds, got /;
      for (const one of said) expect(one).to.match(sentence);
    });
});
