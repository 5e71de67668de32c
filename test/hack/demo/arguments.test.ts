import { expect } from 'chai';
import { parseBenchArguments, parseDemoArguments } from '../../../hack/demo/arguments.ts';

describe('hack/demo: arguments', () => {
  it('have defaults', () => {
    const options = { members: 3, restartMilliseconds: 2000, json: false };
    expect(parseDemoArguments([])).to.deep.equal({ kind: 'options', options });
    expect(parseBenchArguments([])).to.deep.equal({ kind: 'options', options: { ...options, runs: 5 } });
  });

  it('are taken with a space and with an equals sign', () => {
    const options = { members: 5, restartMilliseconds: 1500, json: true };
    expect(parseDemoArguments(['--members', '5', '--restart=1.5', '--json'])).to.deep.equal({
      kind: 'options',
      options,
    });
  });

  const wrong: readonly (readonly [string[], string])[] = [
    [['--members=4'], 'Expected --members to be an odd number from 1 to 9, as MOCO has them, got `4`.'],
    [['--members', 'many'], 'Expected --members to be an odd number from 1 to 9, as MOCO has them, got `many`.'],
    [['--members='], 'Expected --members to be an odd number from 1 to 9, as MOCO has them, got ``.'],
    [['--members'], 'Expected --members to be followed by an odd number from 1 to 9, as MOCO has them, got nothing.'],
    [
      ['--members', '--json'],
      'Expected --members to be followed by an odd number from 1 to 9, as MOCO has them, got nothing.',
    ],
    [['--restart=0'], 'Expected --restart to be seconds from 0.5 to 60, got `0`.'],
    [['--restart=-1'], 'Expected --restart to be seconds from 0.5 to 60, got `-1`.'],
    [['--restart=NaN'], 'Expected --restart to be seconds from 0.5 to 60, got `NaN`.'],
    [['--json=yes'], 'Expected --json without a value, got `yes`.'],
    [['--speed=9'], 'Expected one of --members, --restart, --json, --help, got `--speed`.'],
    [['-x'], 'Expected one of --members, --restart, --json, --help, got `-x`.'],
    [['now'], 'Expected flags only, got `now`.'],
  ];
  for (const [argv, message] of wrong) {
    it(`that can't be meant get a sentence: ${argv.join(' ')}`, () => {
      expect(parseDemoArguments(argv)).to.deep.equal({ kind: 'usage-error', message });
    });
  }

  it('know how often to measure in the benchmark alone', () => {
    expect(parseBenchArguments(['--runs=2'])).to.have.nested.property('options.runs', 2);
    expect(parseBenchArguments(['--runs=0'])).to.have.property('kind', 'usage-error');
    expect(parseDemoArguments(['--runs=2'])).to.have.property('kind', 'usage-error');
  });

  it('are listed by --help, each with its default', () => {
    for (const argv of [['--help'], ['-h']]) {
      const parsed = parseDemoArguments(argv);
      expect(parsed).to.have.property('kind', 'help');
      expect(parsed)
        .to.have.property('text')
        .that.matches(/--members N .*\(default 3\)\n {2}--restart SECONDS .*\(default 2\)\n {2}--json /);
    }
  });
});
