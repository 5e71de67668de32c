import { expect } from 'chai';
import { type GrownFleet, growthTable } from '../../../../hack/bench/runtime/growth.ts';

/** A fleet whose figures are all of this size, in the unit of each. */
function fleet(clusters: number, size: number): GrownFleet {
  const delay = { p50: 1, p99: 1, max: 1 };
  const usage = { cpuSeconds: 0, residentBytes: 0, peakBytes: size * 1e6, readBytes: 0 };
  const listing = { duringList: delay, duringFirstPasses: delay, usage };
  return {
    clusters,
    idle: [
      {
        variant: 'bundle',
        listing,
        seconds: 1,
        cores: size / 100,
        residentBytes: [0, size * 1e6],
        scrapeMilliseconds: [size],
      },
    ],
    coldStarts: [{ synced: size, firstDecision: size, lastDecision: size }],
    statusAllMilliseconds: [size * 1000],
    reconnect: { duringReconnect: delay, connections: 1 },
  };
}

describe('the table of growth', () => {
  it('has each figure with each number of clusters, and the exponents between them', () => {
    const { columns, rows } = growthTable([fleet(10, 1), fleet(100, 10), fleet(1000, 10)]);
    expect(columns).to.deep.equal([
      '',
      '10 clusters',
      '100 clusters',
      '1000 clusters',
      'exponent, 10 to 100',
      'exponent, 100 to 1000',
    ]);
    expect(rows.map((row) => row.slice(-2))).to.deep.equal(rows.map(() => ['1.00', '0.00']));
    expect(rows[0]).to.deep.equal(['resident, idle, most', '1 MB', '10 MB', '10 MB', '1.00', '0.00']);
  });
});
