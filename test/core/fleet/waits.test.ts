import { expect } from 'chai';
import { concurrencyOf } from '../../../src/core/fleet/stage-counts.ts';
import { type FleetCounts, fleetPlace } from '../../../src/core/fleet/waits.ts';
import { cluster, stale } from '../cluster-builder.ts';
import { member } from '../member-builder.ts';
import { decideCase, deletes, holds, play } from '../table.ts';

describe('the place of a cluster in the queue', () => {
  const cases: Readonly<Record<string, readonly [Partial<FleetCounts>, number | null]>> = {
    'is none without a limit': [{ limit: 0, rolling: 9, ahead: 9 }, null],
    'is none with a limit below none': [{ limit: -1, ahead: 9 }, null],
    'is none while there is a slot for it': [{ limit: 3, rolling: 1, ahead: 1 }, null],
    'is the first once the only slot is occupied': [{ limit: 1, rolling: 1 }, 1],
    'is the first once the slots are occupied': [{ limit: 3, rolling: 3 }, 1],
    'is the first if those ahead get the free slots': [{ limit: 3, rolling: 1, ahead: 2 }, 1],
    'counts those ahead that get no slot': [{ limit: 3, rolling: 2, ahead: 4 }, 4],
    'does not grow with rollouts that are too many': [{ limit: 2, rolling: 5, ahead: 1 }, 2],
  };
  for (const [sentence, [counts, place]] of Object.entries(cases)) {
    it(sentence, () => {
      const whole = { limit: 1, rolling: 0, stuck: [], ahead: 0, ...counts };
      expect(fleetPlace(whole)?.place ?? null).to.equal(place);
    });
  }

  it('names the cluster that goes first, whatever the limit', () => {
    const counts = { limit: 0, rolling: 1, stuck: [], ahead: 2, first: 'prod/orders' };
    expect(fleetPlace(counts)).to.deep.equal({ place: 3, limit: 1, stuck: [], first: 'prod/orders' });
  });

  it('names the limit, and how many slots stalled rollouts hold', () => {
    const counts = { limit: 2, rolling: 2, stuck: [{ cluster: 'prod/orders', rule: 'MemberMissing' }], ahead: 0 };
    expect(fleetPlace(counts)).to.deep.equal({
      place: 1,
      limit: 2,
      stuck: [{ cluster: 'prod/orders', rule: 'MemberMissing' }],
    });
  });
});

describe('how many clusters of a stage may roll at a time', () => {
  for (const [maxConcurrent, clusters, limit] of [
    [4, 9, 4],
    ['25%', 9, 2],
    ['10%', 9, 1],
    ['100%', 9, 9],
  ] as const) {
    it(`${maxConcurrent} of ${clusters} are ${limit}`, () => {
      const stage = { name: 'most', maxConcurrent, soakSeconds: 0, maxFailures: 0 };
      expect(concurrencyOf(stage, clusters)).to.equal(limit);
    });
  }
});

describe('a cluster in the queue', () => {
  const queued = () => stale().queued(2, 1);
  const hold = holds({ rule: 'AwaitingFleetSlot', place: 2, limit: 1, stuck: [] });
  play({
    'disrupts no working member': { given: queued(), decides: hold },
    'disrupts no lagging member': { given: queued().members(member(2).lagging()), decides: hold },
    'disrupts no unreachable member': { given: queued().members(member(2).unreachable()), decides: hold },
    'disrupts those that are down': {
      given: queued().members(member(2).down('ErrImagePull')),
      decides: deletes('MemberDown', 2),
    },
    'is not reported when nothing is due': { given: cluster(3).queued(2, 1), decides: 'idle' },
    'has lower precedence than the holds that block everything': {
      given: queued(),
      settings: { paused: true },
      decides: holds({ rule: 'Paused' }),
    },
  });
  it('is not stuck, however long it waits', () => {
    const given = queued().memory({ sinceProgressSeconds: 10_000 });
    expect(decideCase({ given }).progressDeadlineExceeded).to.equal(false);
  });
});
