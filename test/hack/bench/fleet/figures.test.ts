import { expect } from 'chai';
import { figuresOf } from '../../../../hack/bench/fleet/figures.ts';
import { type FleetRollout, fairness, rolloutsPerMinute } from '../../../../hack/bench/fleet/fleet-rollout.ts';
import type { MeasuredFleet } from '../../../../hack/bench/fleet/measured-fleet.ts';
import { askers, type RequestsByAsker } from '../../../../hack/bench/fleet/requests.ts';
import { tablesOf } from '../../../../hack/bench/fleet/tables.ts';
import { type Figure, isMissed } from '../../../../hack/bench/record/figure.ts';

function rollout(change: Partial<FleetRollout> = {}): FleetRollout {
  const none = { reads: 0, writes: 0, events: 0, leases: 0, refused: 0 };
  const own = { reads: 900, writes: 1200, events: 600, leases: 10, refused: 0 };
  return {
    rival: 'controller',
    clusters: 100,
    seconds: 60,
    secondsOfClusters: [20, 40, 60],
    cores: { of: { controller: 0.2 }, others: 0 },
    requestsPerSecond: 500,
    requests: { ...Object.fromEntries(askers.map((asker) => [asker, none])), controller: own } as RequestsByAsker,
    kinds: { 'get pods': 900 },
    applies: 900,
    readBytes: 3e6,
    budgetsStuck: 0,
    processorSeconds: { controller: 6 },
    eventLoop: { p50: 1, p99: 5, max: 20 },
    residentBytes: 120e6,
    peakBytes: 140e6,
    ...change,
  };
}

/** Of a hundred clusters, where nothing else is said of the rivals. */
function fleet(change: Partial<MeasuredFleet['rollouts']> = {}, clusters = 100): MeasuredFleet {
  const usual = { controller: [rollout()], 'plain loop': [rollout({ rival: 'plain loop', seconds: 52 })] };
  const rollouts = { ...usual, "MOCO's partitions": [], ...change };
  return { clusters, creationSeconds: 10, takeOverSeconds: 5, rollouts };
}

function missed(fleets: readonly MeasuredFleet[]): readonly string[] {
  return figuresOf(fleets)
    .filter(isMissed)
    .map(({ what }) => what);
}

describe('hack/bench/fleet: the targets', () => {
  it('are those of the largest fleet', () => {
    expect(missed([fleet()])).to.deep.equal([]);
    const slow = rollout({ rival: 'plain loop', seconds: 50 });
    expect(missed([fleet({ 'plain loop': [slow] })])).to.deep.equal(["rollouts a minute, of the plain loop's"]);
    expect(missed([fleet({ 'plain loop': [slow] }), fleet()])).to.deep.equal([]);
    expect(missed([fleet({ controller: [rollout({ peakBytes: 151e6 })] })])).to.deep.equal(['resident at its peak']);
  });

  it('are requests and writes for each member', () => {
    const { controller, ...others } = rollout().requests;
    const requests = { ...others, controller: { ...controller, writes: 1801, events: 1201 } };
    expect(missed([fleet({ controller: [rollout({ requests })] })])).to.deep.equal([
      'writes a member, Events aside',
      'Events a member',
    ]);
  });

  it('are StatefulSets that MOCO applies, and its own rate where it was measured', () => {
    const figures = { controller: [rollout({ applies: 1051 })], "MOCO's partitions": [rollout({ seconds: 59 })] };
    expect(missed([fleet(figures)])).to.deep.equal([
      "rollouts a minute, of MOCO's own",
      'StatefulSets that MOCO applies a member',
    ]);
  });

  it('include that the cost does not grow with the fleet', () => {
    const dear = rollout({ processorSeconds: { controller: 8 } });
    expect(missed([fleet(), fleet({ controller: [dear] })])).to.deep.equal([
      'processor time a member, by that with 100 clusters',
    ]);
  });

  it('are missed by an unmeasured figure', () => {
    const figure: Figure = { what: '', value: Number.NaN, unit: '', digits: 0, limit: 1 };
    for (const sense of ['<', '≤', '≥'] as const) expect(isMissed({ ...figure, sense })).to.equal(true);
  });
});

describe('hack/bench/fleet: a fleet’s rollout', () => {
  it('has a rate and the fairness of its slowest cluster', () => {
    expect(rolloutsPerMinute(rollout())).to.equal(100);
    expect(fairness(rollout())).to.equal(1.5);
  });

  it('is shown in tables with complete rows', () => {
    const fleets = [fleet({}, 10), fleet()];
    for (const { name, columns, rows } of tablesOf(fleets, figuresOf(fleets))) {
      for (const row of rows) expect(row, `${name}: ${row.join()}`).to.have.length(columns.length);
    }
  });
});
