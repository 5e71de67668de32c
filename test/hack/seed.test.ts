import { expect } from 'chai';
import * as fc from 'fast-check';

describe('a test process', () => {
  it('draws from the seed that the runner shows', () => {
    expect(process.env['SEED']).to.match(/^-?\d+$/);
    expect(fc.readConfigureGlobal().seed).to.equal(Number(process.env['SEED']));
    expect(fc.sample(fc.integer(), 5)).to.deep.equal(
      fc.sample(fc.integer(), { seed: Number(process.env['SEED']), numRuns: 5 }),
    );
  });
});
