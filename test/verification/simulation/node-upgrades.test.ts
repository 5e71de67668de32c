import { expect } from 'chai';
import { type NodeMaintenance, plainCircumstances } from './circumstances.ts';
import { type Outcome, run } from './run.ts';

const minute = 60_000;

/** Three nodes are upgraded, each drained a few minutes after it was cordoned. */
function upgraded(nodeMaintenance: NodeMaintenance, rollsOut: boolean): Promise<Outcome> {
  const upgrade = {
    kind: 'upgradeNodes',
    noticeMilliseconds: 4 * minute,
    bootMilliseconds: 30_000,
    forMilliseconds: 20 * minute,
  } as const;
  const rollOut = { atMilliseconds: 1000, what: { kind: 'rollOut', image: 'mysql:8.4.1' } } as const;
  return run({
    circumstances: { ...plainCircumstances, seed: 'nodes', nodeMaintenance },
    plan: [{ atMilliseconds: 0, what: upgrade }, ...(rollsOut ? [rollOut] : [])],
  });
}

const evictedBy = ({ drains }: Outcome) => drains.flatMap(({ evicted }) => evicted);

/** Every node was emptied, and nobody objects. */
function expectNothingWrong({ violations, races, stuck, drains }: Outcome): void {
  expect({ violations, races, stuck }).to.deep.equal({ violations: [], races: [], stuck: null });
  expect(drains.map(({ node, endedMilliseconds }) => [node, endedMilliseconds !== null])).to.deep.equal([
    ['node-0', true],
    ['node-1', true],
    ['node-2', true],
  ]);
}

describe('nodes that are upgraded one after another in the simulation', () => {
  it('are emptied by their drains, which end the pods of primaries, unless a setting says otherwise', async () => {
    const outcome = await upgraded({ nodeMaintenance: 'Ignore', rolloutsDuringMaintenance: 'Proceed' }, false);
    expectNothingWrong(outcome);
    expect(outcome.measures.disruptions).to.equal(0);
    expect(evictedBy(outcome).some(({ wasPrimary }) => wasPrimary)).to.equal(true);
  });

  it('lose the primary before their drain where primaries are moved and a replica is elsewhere', async () => {
    const outcome = await upgraded({ nodeMaintenance: 'Switchover', rolloutsDuringMaintenance: 'Wait' }, true);
    expectNothingWrong(outcome);
    expect(outcome.drains[0]?.evicted.some(({ wasPrimary }) => wasPrimary)).to.equal(false);
  });

  for (const rolloutsDuringMaintenance of ['Proceed', 'Wait'] as const) {
    for (const rollsOut of [false, true]) {
      const beside = `${rollsOut ? 'with' : 'without'} a rollout, ${rolloutsDuringMaintenance}`;
      it(`are empty before their drain where members are evacuated, ${beside}`, async () => {
        const outcome = await upgraded({ nodeMaintenance: 'Evacuate', rolloutsDuringMaintenance }, rollsOut);
        expectNothingWrong(outcome);
        expect(evictedBy(outcome)).to.deep.equal([]);
      });
    }
  }
});
