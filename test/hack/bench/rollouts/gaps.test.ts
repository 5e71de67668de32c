import { expect } from 'chai';
import { gapsOf } from '../../../../hack/bench/rollouts/gaps.ts';
import { beginObservation, observed } from '../../../../hack/bench/rollouts/observation.ts';
import { healthyRollout, sight, unavailable } from './sights.ts';

describe('hack/bench/rollouts: the gaps between the parts', () => {
  const absences = [unavailable(2, 150, 2000), unavailable(1, 2100, 4000), unavailable(0, 4500, 6000)];
  const switchovers = [{ from: 0, to: 1, fromMilliseconds: 4090, toMilliseconds: 4480 }];
  const measure = { beganMilliseconds: 100, absences, switchovers };

  it('is split at the moment at which MOCO reports Healthy again', () => {
    const settlings = [
      { at: 0, settled: true },
      { at: 200, settled: false },
      { at: 2060, settled: true },
      { at: 2150, settled: false },
      { at: 4050, settled: true },
      { at: 4200, settled: false },
      { at: 4480, settled: true },
    ];
    expect(gapsOf(measure, settlings)).to.deep.equal({ first: 50, moco: [60, 50, 0], reaction: [40, 40, 20] });
  });

  it("is not MOCO's time if it was Healthy throughout, and all MOCO's if it was not", () => {
    expect(gapsOf(measure, [{ at: 0, settled: true }]).moco).to.deep.equal([0, 0, 0]);
    expect(gapsOf(measure, [{ at: 0, settled: false }]).reaction).to.deep.equal([0, 0, 0]);
  });

  it('is zero if the next member restarts before the last one is back', () => {
    const allOrAbort = {
      ...measure,
      absences: [unavailable(2, 150, 2000), unavailable(1, 160, 2100)],
      switchovers: [],
    };
    expect(gapsOf(allOrAbort, [])).to.deep.equal({ first: 50, moco: [], reaction: [] });
  });

  it('is derived from the observation of a rollout', () => {
    const [first, ...rest] = healthyRollout();
    if (first === undefined) throw new Error('Expected a sight, got none');
    const { measure: seen, settlings } = rest.reduce(observed, beginObservation(first));
    expect(settlings).to.deep.equal([
      { at: 0, settled: true },
      { at: 4900, settled: false },
      { at: 5100, settled: true },
    ]);
    expect(gapsOf(seen, settlings).reaction).to.deep.equal([100, 100, 100]);
    const unhealthy = observed(beginObservation(sight(0)), sight(10, { healthy: false }));
    expect(unhealthy.settlings.at(-1)).to.deep.equal({ at: 10, settled: false });
  });
});
