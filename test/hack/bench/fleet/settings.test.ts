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
        policies: 50,
        rivals: ['plain loop'],
        moco: 'stand-in',
        mocoController: undefined,
        terminationSeconds: 2,
        record: undefined,
      },
    });
  });

  for (const [argument, sentence] of Object.entries({
    '--clusters=100,10': 'Expected --clusters to be numbers in ascending order, got `100,10`.',
    '--clusters=0': 'Expected --clusters to have whole numbers from 1 to 5000, got `0`.',
    '--clusters=1,': 'Expected --clusters to have whole numbers from 1 to 5000, got ``.',
    '--rivals=etcd-druid': 'Expected --rivals to be plain-loop or moco, got `etcd-druid`.',
    '--moco=0.36': 'Expected --moco to be stand-in or real, got `0.36`.',
    '--moco-controller=x': 'Expected --moco real with --moco-controller, got --moco stand-in.',
    '--policies=-1': 'Expected --policies to have whole numbers from 0 to 1000, got `-1`.',
  })) {
    it(`are refused if they are ${argument}`, () => {
      expect(parseFleetBenchArguments([argument])).to.deep.equal({ kind: 'usage-error', message: sentence });
    });
  }

  it('are refused if they are unknown', () => {
    expect(parseFleetBenchArguments(['--members=3'])).to.have.property('kind', 'usage-error');
  });
});
