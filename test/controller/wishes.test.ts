import { expect } from 'chai';
import { wishesOf } from '../../src/controller/wishes.ts';
import { defaultPolicy } from '../../src/core/policy.ts';

describe('the wishes of a MySQLRollout', () => {
  it('are those of the flags where the user says nothing', () => {
    const flags = { ...defaultPolicy, minReadySeconds: 17, partition: 1 };
    for (const spec of [undefined, {}]) {
      expect(wishesOf(spec, flags)).to.deep.equal({ policy: flags, problem: null });
    }
  });

  it('come before the flags, each for itself, zero and false included', () => {
    const flags = { ...defaultPolicy, paused: true, minReadySeconds: 17, partition: 1 };
    expect(wishesOf({ paused: false, minReadySeconds: 0 }, flags)).to.deep.equal({
      policy: { ...flags, paused: false, minReadySeconds: 0 },
      problem: null,
    });
    expect(wishesOf({ partition: 0 }, flags).policy).to.deep.equal({ ...flags, partition: 0 });
  });

  it('never turn the feature gate', () => {
    const spec = { mode: 'OnDelete' } as object;
    expect(wishesOf(spec, { ...defaultPolicy, mode: 'Observe' }).policy.mode).to.equal('Observe');
  });

  const unreadable: Readonly<Record<string, readonly [spec: object, says: string]>> = {
    'a pause that is a word': [{ paused: 'yes' }, 'expected spec.paused to be true or false, got "yes"'],
    'a partition below zero': [{ partition: -1 }, 'expected spec.partition to be a whole number from 0 up, got -1'],
    'half a partition': [{ partition: 0.5 }, 'expected spec.partition to be a whole number from 0 up, got 0.5'],
    'seconds as a text': [
      { minReadySeconds: '5' },
      'expected spec.minReadySeconds to be a whole number of seconds from 0 up, got "5"',
    ],
    'nothing where a number has to be': [
      { minReadySeconds: null },
      'expected spec.minReadySeconds to be a whole number of seconds from 0 up, got null',
    ],
  };
  for (const [what, [spec, says]] of Object.entries(unreadable)) {
    it(`are a problem with a name where there is ${what}`, () => {
      expect(wishesOf(spec, defaultPolicy).problem).to.equal(says);
    });
  }
});
