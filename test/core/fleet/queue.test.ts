import { expect } from 'chai';
import * as fc from 'fast-check';
import { type FleetCluster, fleetQueue } from '../../../src/core/fleet/queue.ts';
import { cluster } from '../cluster-builder.ts';
import { member } from '../member-builder.ts';
import { decideCase, holds, play } from '../table.ts';

const rolling = (key: string): FleetCluster => ({ key, rolling: true, stalled: false, waitingForSeconds: null });
const stalled = (key: string): FleetCluster => ({ ...rolling(key), stalled: true });
const waiting = (key: string, waitingForSeconds: number): FleetCluster => ({
  key,
  rolling: false,
  stalled: false,
  waitingForSeconds,
});
const idle = (key: string): FleetCluster => ({ key, rolling: false, stalled: false, waitingForSeconds: null });

/** Who has to wait, first in the queue first. */
const queue = (clusters: readonly FleetCluster[], limit: number): readonly (readonly [string, number])[] =>
  [...fleetQueue(clusters, limit)].map(([key, { place }]) => [key, place]);

describe('the queue of a fleet', () => {
  const cases: Readonly<
    Record<string, readonly [readonly FleetCluster[], number, readonly (readonly [string, number])[]]>
  > = {
    'is empty without a limit': [[rolling('a'), waiting('b', 9), waiting('c', 1)], 0, []],
    'is empty with a limit below none': [[waiting('b', 9), waiting('c', 1)], -1, []],
    'is empty while no cluster needs a slot': [[rolling('a'), idle('b')], 1, []],
    'is empty while there are slots for all': [[waiting('a', 1), waiting('b', 2)], 2, []],
    'has those that have waited less': [[waiting('a', 1), waiting('b', 2)], 1, [['a', 1]]],
    'has them by how long they have waited': [
      [rolling('z'), waiting('a', 1), waiting('b', 3), waiting('c', 2)],
      1,
      [
        ['b', 1],
        ['c', 2],
        ['a', 3],
      ],
    ],
    'orders them by name if they are equal': [
      [rolling('z'), waiting('b', 1), waiting('a', 1), waiting('c', 1)],
      1,
      [
        ['a', 1],
        ['b', 2],
        ['c', 3],
      ],
    ],
    'has those who have waited for no time at all': [[rolling('z'), waiting('a', 0)], 1, [['a', 1]]],
    'keeps the slots of running rollouts, even of too many': [
      [rolling('x'), rolling('y'), rolling('z'), waiting('a', 1), waiting('b', 2)],
      2,
      [
        ['b', 1],
        ['a', 2],
      ],
    ],
    'assigns a free slot': [[rolling('z'), waiting('a', 1), waiting('b', 2)], 2, [['a', 1]]],
    'does not have those that roll, whatever they have waited for': [
      [{ ...rolling('z'), waitingForSeconds: 99 }, waiting('a', 1)],
      1,
      [['a', 1]],
    ],
  };
  for (const [sentence, [clusters, limit, expected]] of Object.entries(cases)) {
    it(sentence, () => expect(queue(clusters, limit)).to.deep.equal(expected));
  }
  it('names the limit with every place in the queue', () => {
    const places = fleetQueue([rolling('z'), waiting('a', 1), waiting('b', 2)], 1);
    expect(places.get('a')).to.deep.equal({ place: 2, limit: 1, stalled: 0 });
    expect(places.get('b')).to.deep.equal({ place: 1, limit: 1, stalled: 0 });
  });
  it('reports how many slots stalled rollouts hold', () => {
    const places = fleetQueue([rolling('x'), stalled('y'), stalled('z'), waiting('a', 1)], 3);
    expect(places.get('a')).to.deep.equal({ place: 1, limit: 3, stalled: 2 });
  });

  const fleet = fc.uniqueArray(
    fc.record({
      key: fc.string({ minLength: 1, maxLength: 3 }),
      rolling: fc.boolean(),
      stalled: fc.boolean(),
      waitingForSeconds: fc.option(fc.nat({ max: 5 })),
    }),
    { selector: ({ key }) => key, maxLength: 9 },
  );
  it('never lets more begin than there are slots, and wastes none', () => {
    fc.assert(
      fc.property(fleet, fc.integer({ min: 1, max: 5 }), (clusters, limit) => {
        const places = fleetQueue(clusters, limit);
        const wanting = clusters.filter((one) => !one.rolling && one.waitingForSeconds !== null);
        const running = clusters.filter((one) => one.rolling).length;
        const begin = wanting.filter(({ key }) => !places.has(key)).length;
        expect(begin).to.equal(Math.min(wanting.length, Math.max(0, limit - running)));
        expect([...places.values()].map(({ place }) => place)).to.deep.equal(
          Array.from({ length: places.size }, (_, index) => index + 1),
        );
      }),
    );
  });
  it('does not depend on the order of the clusters', () => {
    fc.assert(
      fc.property(fleet, fc.integer({ min: 1, max: 5 }), (clusters, limit) => {
        expect(queue([...clusters].reverse(), limit)).to.deep.equal(queue(clusters, limit));
      }),
    );
  });
});

describe('a cluster in the queue', () => {
  const queued = () => cluster(3).templateChanged().queued(2, 1);
  const hold = holds({ rule: 'AwaitingFleetSlot', place: 2, limit: 1, stalled: 0 });
  play({
    'disrupts no working member': { given: queued(), decides: hold },
    'disrupts no lagging member': { given: queued().members(member(2).lagging()), decides: hold },
    'disrupts no unreachable member': { given: queued().members(member(2).unreachable()), decides: hold },
    'disrupts those that are down': {
      given: queued().members(member(2).down('ErrImagePull')),
      decides: { step: { kind: 'delete', rule: 'MemberDown', ordinals: [2] } },
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
