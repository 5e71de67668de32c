import { expect } from 'chai';
import { parseRolloutsBenchArguments } from '../../../../hack/bench/rollouts/arguments.ts';

describe('hack/bench/rollouts: arguments', () => {
  it('default to three runs of everything', () => {
    const options = { runs: 3, only: '', record: undefined };
    expect(parseRolloutsBenchArguments([])).to.deep.equal({ kind: 'options', options });
  });

  const wrong: readonly (readonly [string[], RegExp])[] = [
    [['--runs=0'], /^Expected --runs to have whole numbers from 1 to 100, got `0`\.$/],
    [['--runs=x'], /^Expected --runs to have whole numbers from 1 to 100, got `x`\.$/],
    [['--only=members=4'], /^Expected --only to be part of WAY-SCENARIO-MEMBERS-of-MILLISECONDS, got `members=4`\.$/],
    [['--speed'], /--speed/],
    [['now'], /now/],
    [['--record'], /--record/],
  ];
  for (const [argv, message] of wrong) {
    it(`are refused with one sentence: ${argv.join(' ')}`, () => {
      const parsed = parseRolloutsBenchArguments(argv);
      expect(parsed).to.have.property('kind', 'usage-error');
      expect(parsed).to.have.property('message').that.matches(message);
    });
  }
});
