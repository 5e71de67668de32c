import { expect } from 'chai';
import { nothingProbed, type Probe, type ProbeCount, probed } from './probe.ts';

function verdicts(probe: Probe, results: string): readonly (boolean | null)[] {
  let count: ProbeCount = nothingProbed;
  return results.split('').map((result) => {
    count = probed(count, result === '+', probe);
    return count.passes;
  });
}

describe('a probe', () => {
  it('passes with the first success, and fails with the third failure in a row', () => {
    expect(verdicts({}, '+---')).to.deep.equal([true, true, true, false]);
  });

  it('has no verdict before a threshold is reached', () => {
    expect(verdicts({}, '--+')).to.deep.equal([null, null, true]);
  });

  it('counts failures anew after a success', () => {
    expect(verdicts({}, '+--+--')).to.deep.equal([true, true, true, true, true, true]);
  });

  it('takes both thresholds from its spec', () => {
    const probe = { successThreshold: 2, failureThreshold: 1 };
    expect(verdicts(probe, '+-++')).to.deep.equal([null, false, false, true]);
  });
});
