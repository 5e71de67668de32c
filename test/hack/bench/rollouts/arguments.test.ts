import { expect } from 'chai';
import { parseRolloutsBenchArguments } from '../../../../hack/bench/rollouts/arguments.ts';

const all = { way: [], scenario: [], members: [], restart: [], minready: [] };
const defaults = { runs: 3, full: false, only: all, json: false, record: undefined };

describe('hack/bench/rollouts: arguments', () => {
  it('have defaults', () => {
    expect(parseRolloutsBenchArguments([])).to.deep.equal({ kind: 'options', options: defaults });
  });

  it('select parts of the matrix, with several values and several names', () => {
    const argv = ['--runs=1', '--full', '--only=members=3,5', '--only', 'way=on-delete', '--record', 'x.json'];
    const only = { ...all, members: [3, 5], way: ['on-delete'] };
    expect(parseRolloutsBenchArguments(argv)).to.deep.equal({
      kind: 'options',
      options: { ...defaults, runs: 1, full: true, only, record: 'x.json' },
    });
  });

  const wrong: readonly (readonly [string[], RegExp])[] = [
    [['--runs=0'], /^Expected --runs to have whole numbers from 1 to 100, got `0`\.$/],
    [['--runs=x'], /^Expected --runs to have whole numbers from 1 to 100, got `x`\.$/],
    [['--only=speed=9'], /^Expected --only to begin with way=, scenario=, .*, got `speed=9`\.$/],
    [['--only=members=4'], /^Expected --only members= to be of 1, 3, 5, 9, got `4`\.$/],
    [['--only=way'], /^Expected --only way= to be of native, .*, got ``\.$/],
    [['--only=way=on-delete-2', '--only=members=3'], /^Expected --only to leave something to measure, got nothing/],
    [['--only=scenario=low', '--only=members=9'], /^Expected --only to leave something to measure, got nothing/],
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

  it('are listed by --help, with the values of --only', () => {
    const parsed = parseRolloutsBenchArguments(['--help']);
    expect(parsed).to.have.property('kind', 'help');
    expect(parsed)
      .to.have.property('text')
      .that.matches(/--only NAME=.*\n[^]*^ {2}on-delete-2 [^]*^ {2}sidecar /m);
  });
});
