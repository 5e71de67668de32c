import { expect } from 'chai';
import { gapsOf } from '../../../hack/bench-rollouts/gaps.ts';
import { beginObservation, observed } from '../../../hack/bench-rollouts/observation.ts';
import type { Measure } from '../../../hack/demo/measure.ts';
import { healthyRollout, sight } from '../demo/sights.ts';

const away = (ordinal: number, fromMilliseconds: number, toMilliseconds: number): Measure['absences'][number] => ({
  ordinal,
  name: `moco-test-${ordinal}`,
  fromMilliseconds,
  toMilliseconds,
});

describe('hack/bench-rollouts: what comes between the parts', () => {
  const absences = [away(2, 150, 2000), away(1, 2100, 4000), away(0, 4500, 6000)];
  const switchovers = [{ from: 0, to: 1, fromMilliseconds: 4090, toMilliseconds: 4480 }];
  const measure = { beganMilliseconds: 100, absences, switchovers };

  it('is parted by the moment at which MOCO is content again', () => {
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

  it("is no time of MOCO's where it was content all the while, and all of it where it was not", () => {
    expect(gapsOf(measure, [{ at: 0, settled: true }]).moco).to.deep.equal([0, 0, 0]);
    expect(gapsOf(measure, [{ at: 0, settled: false }]).reaction).to.deep.equal([0, 0, 0]);
  });

  it('is nothing where the next one goes before the last one is back', () => {
    const together = { ...measure, absences: [away(2, 150, 2000), away(1, 160, 2100)], switchovers: [] };
    expect(gapsOf(together, [])).to.deep.equal({ first: 50, moco: [], reaction: [] });
  });

  it('is found in what is seen of a rollout', () => {
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
