import { expect } from 'chai';
import * as fc from 'fast-check';
import { FleetSlots, type SlotStanding } from '../../../src/controller/fleet/fleet-slots.ts';

const rolling: SlotStanding = { occupies: true, stuckBy: null, waitingSince: null };
const stuck: SlotStanding = { ...rolling, stuckBy: 'MemberMissing' };
const idle: SlotStanding = { occupies: false, stuckBy: null, waitingSince: null };
const waiting = (since: number): SlotStanding => ({ ...idle, waitingSince: since });

type Standings = Readonly<Record<string, SlotStanding>>;

function slotsOf(standings: Standings, limit: number): FleetSlots {
  const slots = new FleetSlots(limit, () => undefined);
  for (const [key, standing] of Object.entries(standings)) slots.note(key, standing);
  return slots;
}

/** The clusters that wait for a slot, with their places. */
function queueOf(slots: FleetSlots, standings: Standings): Readonly<Record<string, number>> {
  return Object.fromEntries(
    Object.entries(standings).flatMap(([key, { waitingSince }]) => {
      const place = waitingSince === null ? null : slots.placeOf(key, waitingSince);
      return place === null ? [] : [[key, place.place]];
    }),
  );
}

describe('the queue of a fleet', () => {
  it('names the limit with every place, and who occupies slots and may need a person', () => {
    const slots = slotsOf({ x: rolling, y: stuck, z: stuck, a: waiting(1), b: waiting(2) }, 3);
    const names = ['y', 'z'].map((cluster) => ({ cluster, rule: 'MemberMissing' }));
    expect(slots.placeOf('a', 1)).to.deep.equal({ place: 1, limit: 3, stuck: names });
    expect(slots.placeOf('b', 2)).to.deep.equal({ place: 2, limit: 3, stuck: names });
  });

  it('has a place for a cluster that did not need a slot before', () => {
    const slots = slotsOf({ a: waiting(1), b: idle }, 1);
    expect(slots.placeOf('b', 5)?.place).to.equal(1);
    expect(slots.placeOf('unknown', 0)).to.equal(null);
  });

  it('is not kept waiting by a promise to the cluster itself', () => {
    const slots = slotsOf({ a: rolling, b: waiting(1) }, 1);
    expect(slots.placeOf('a', 2)?.place).to.equal(1);
    expect(slots.placeOf('a', 0)).to.equal(null);
  });

  const standing = fc.oneof(
    fc.constantFrom(rolling, stuck, idle, null),
    fc.nat({ max: 5 }).map((since) => waiting(since)),
  );
  const changes = fc.array(fc.tuple(fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g'), standing), { maxLength: 40 });

  it('is the same after any changes as one made anew, and neither wastes a slot nor gives one twice', () => {
    fc.assert(
      fc.property(changes, fc.integer({ min: 0, max: 5 }), (all, limit) => {
        const slots = new FleetSlots(limit, () => undefined);
        const known = new Map<string, SlotStanding>();
        let order: readonly string[] = [];
        let free = limit;
        for (const [key, one] of all) {
          slots.note(key, one);
          if (one === null) known.delete(key);
          else known.set(key, one);
          order = [...known]
            .flatMap(([key, { waitingSince: since }]) => (since === null ? [] : [{ key, since }]))
            .toSorted((one, other) => one.since - other.since || (one.key < other.key ? -1 : 1))
            .map(({ key }) => key);
          free = Math.max(0, limit - [...known.values()].filter(({ occupies }) => occupies).length);
          expect(slots.next()).to.deep.equal(order.slice(0, free));
        }
        const queued = limit === 0 ? [] : order.slice(free);
        expect(queueOf(slots, Object.fromEntries(known))).to.deep.equal(
          Object.fromEntries(queued.map((key, index) => [key, index + 1])),
        );
      }),
    );
  });
});
