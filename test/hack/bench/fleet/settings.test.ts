import { expect } from 'chai';
import { fleetCommand } from '../../../../hack/bench/fleet/settings.ts';

const parse = (...argv: readonly string[]): object =>
  fleetCommand()
    .exitOverride()
    .configureOutput({ writeErr: () => undefined })
    .parse(argv, { from: 'user' })
    .opts();

describe('hack/bench/fleet: arguments', () => {
  it('are read as numbers and names', () => {
    expect(parse('--clusters', '10,200', '--rivals=moco,plain-loop', '--policies=0')).to.include({
      policies: 0,
      rounds: 3,
    });
    expect(parse('--clusters', '10,200', '--rivals=moco,plain-loop')).to.deep.include({
      clusters: [10, 200],
      rivals: ["MOCO's partitions", 'plain loop'],
    });
  });

  for (const [argument, sentence] of Object.entries({
    '--clusters=100,10': 'Expected numbers in ascending order.',
    '--clusters=0': 'Expected whole numbers from 1 to 5000.',
    '--clusters=1,': 'Expected whole numbers from 1 to 5000.',
    '--rivals=etcd-druid': 'Expected plain-loop or moco.',
    '--moco=0.36': 'Allowed choices are stand-in, real.',
    '--policies=-1': 'Expected whole numbers from 0 to 1000.',
  })) {
    it(`are refused if they are ${argument}`, () => {
      expect(() => parse(argument)).to.throw(sentence);
    });
  }
});
