import { expect } from 'chai';
import { parseFleetBenchArguments } from '../../../../hack/bench/fleet/settings.ts';

describe('hack/bench/fleet: arguments', () => {
  it('default to 10, 100 and 1,000 clusters', () => {
    const parsed = parseFleetBenchArguments([]);
    expect(parsed).to.deep.equal({
      kind: 'options',
      options: {
        clusters: [10, 100, 1000],
        rounds: 3,
        reactions: 35,
        policies: 50,
        controllerFlags: [],
        json: false,
        record: null,
      },
    });
  });

  it('pass flags to the controller unchanged', () => {
    const flags = ['--kube-api-qps=50', '--max-concurrent-reconciles=32'];
    const parsed = parseFleetBenchArguments(flags.map((flag) => `--controller=${flag}`));
    expect(parsed).to.have.nested.property('options.controllerFlags').that.deep.equals(flags);
  });

  for (const [argument, sentence] of Object.entries({
    '--clusters=100,10': 'Expected --clusters to be numbers in ascending order, got `100,10`.',
    '--clusters=0': 'Expected --clusters to have whole numbers from 1 to 5000, got `0`.',
    '--clusters=1,': 'Expected --clusters to have whole numbers from 1 to 5000, got ``.',
    '--policies=-1': 'Expected --policies to have whole numbers from 0 to 1000, got `-1`.',
    '--reactions=some': 'Expected --reactions to have whole numbers from 0 to 1000, got `some`.',
  })) {
    it(`are refused if they are ${argument}`, () => {
      expect(parseFleetBenchArguments([argument])).to.deep.equal({ kind: 'usage-error', message: sentence });
    });
  }

  it('are refused if they are unknown', () => {
    expect(parseFleetBenchArguments(['--members=3'])).to.have.property('kind', 'usage-error');
  });
});
