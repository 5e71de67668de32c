import { expect } from 'chai';
import * as fc from 'fast-check';
import { FleetSlots, type SlotStanding } from '../../../src/controller/fleet/fleet-slots.ts';

const rolling: SlotStanding = { occupies: true, stuckBy: null, waitingSince: null };
const stuck: SlotStanding = { ...rolling, stuckBy: 'MemberMissing' };
const idle: SlotStanding = { occupies: false, stuckBy: null, waitingSince: null };
const waiting = (since: number): SlotStanding => ({ ...idle, waitingSince: since });

type Standings = Readonly<Record<string, SlotStanding>>;

function slotsOf(standings: Standings, limit: number, namespaceShare = 100): FleetSlots {
  const slots = new FleetSlots({ slots: limit, namespaceShare }, () => undefined);
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
        const slots = new FleetSlots({ slots: limit, namespaceShare: 100 }, () => undefined);
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

describe('the slots of one namespace', () => {
  const many = Object.fromEntries(Array.from({ length: 5 }, (_, index) => [`a/${index}`, waiting(index)]));

  it('are a share of all, rounded up, while there are clusters of others', () => {
    const slots = slotsOf({ ...many, 'b/0': waiting(10) }, 5, 50);
    expect(slots.next()).to.deep.equal(['a/0', 'a/1', 'a/2', 'b/0']);
    expect(slots.placeOf('a/3', 3)).to.deep.equal({
      place: 1,
      limit: 3,
      stuck: [],
      namespace: 'a',
      limitedBy: '--max-namespace-share',
    });
    expect(slots.placeOf('a/4', 4)).to.include({ place: 2, namespace: 'a' });
    expect(slots.placeOf('b/0', 10)).to.equal(null);
  });

  it('are all where there is one namespace alone, also once the others are gone', () => {
    const woken: string[] = [];
    const slots = new FleetSlots({ slots: 5, namespaceShare: 20 }, (key) => void woken.push(key));
    for (const [key, standing] of Object.entries({ ...many, 'b/0': idle })) slots.note(key, standing);
    expect(slots.next()).to.deep.equal(['a/0']);
    slots.note('b/0', null);
    expect(slots.next()).to.deep.equal(Object.keys(many));
    expect(woken).to.include.members(Object.keys(many));
  });

  it('are not remembered for a namespace whose clusters are gone', () => {
    const asked: string[] = [];
    const slots = slotsOf({ ...many, 'b/0': waiting(10) }, 5, 50);
    slots.setShares((namespace) => {
      asked.push(namespace);
      return null;
    });
    const lookUps = (key: string): number => {
      asked.length = 0;
      for (let times = 0; times < 3; times += 1) slots.placeOf(key, 20);
      return asked.filter((namespace) => namespace === key.split('/')[0]).length;
    };
    expect(lookUps('a/0'), 'of a namespace with clusters').to.be.at.most(1);
    expect(lookUps('gone/0'), 'of a namespace without clusters').to.be.at.least(3);
  });

  it('are as many as a policy says, which the place names, from the moment it says so', () => {
    const woken: string[] = [];
    const slots = new FleetSlots({ slots: 5, namespaceShare: 20 }, (key) => void woken.push(key));
    for (const [key, standing] of Object.entries({ ...many, 'b/0': waiting(10), 'b/1': waiting(11) }))
      slots.note(key, standing);
    expect(slots.next()).to.deep.equal(['a/0', 'b/0']);
    const ofA = (percent: number) => (namespace: string) =>
      namespace === 'a' ? { percent, source: 'MySQLRolloutPolicy/a' } : null;
    woken.length = 0;
    slots.setShares(ofA(60));
    expect(slots.next()).to.deep.equal(['a/0', 'a/1', 'a/2', 'b/0']);
    expect(woken).to.include.members(['a/1', 'a/2', 'a/3', 'b/1']);
    expect(slots.placeOf('a/3', 3)).to.include({ place: 1, limit: 3, limitedBy: 'MySQLRolloutPolicy/a' });
    expect(slots.placeOf('b/1', 11)).to.include({ place: 1, limit: 1, limitedBy: '--max-namespace-share' });
    slots.setShares(ofA(100));
    expect(slots.next()).to.deep.equal(['a/0', 'a/1', 'a/2', 'a/3', 'a/4']);
    slots.setShares(() => null);
    expect(slots.next()).to.deep.equal(['a/0', 'b/0']);
  });

  it('are held by its rollouts that need a person, and others begin all the same', () => {
    const failed = Object.fromEntries(
      Object.keys(many)
        .slice(0, 3)
        .map((key) => [key, stuck]),
    );
    const slots = slotsOf({ ...many, ...failed, 'b/0': waiting(10), 'c/0': waiting(11) }, 5, 50);
    expect(slots.next()).to.deep.equal(['b/0', 'c/0']);
    const place = slots.placeOf('a/3', 3);
    expect(place).to.include({ place: 1, limit: 3, namespace: 'a' });
    expect(place?.stuck.map(({ cluster }) => cluster)).to.deep.equal(['a/0', 'a/1', 'a/2']);
  });

  it('are never more than its share, and no slot stays free that one may have', () => {
    const keys = fc.constantFrom('a/1', 'a/2', 'a/3', 'b/1', 'b/2', 'c/1');
    const one = fc.oneof(
      fc.constantFrom(rolling, stuck),
      fc.nat({ max: 5 }).map((since) => waiting(since)),
    );
    fc.assert(
      fc.property(
        fc.array(fc.tuple(keys, one), { maxLength: 30 }),
        fc.integer({ min: 1, max: 5 }),
        fc.integer({ min: 1, max: 100 }),
        (all, limit, share) => {
          const standings = Object.fromEntries(all);
          const slots = slotsOf(standings, limit, share);
          const namespaces = new Set(Object.keys(standings).map((key) => key[0]));
          const most = namespaces.size > 1 ? Math.max(1, Math.ceil((limit * share) / 100)) : limit;
          const next = slots.next();
          const held = Object.entries(standings)
            .filter(([, { occupies }]) => occupies)
            .map(([key]) => key);
          const inNamespace = (name: string | undefined, some: readonly string[]): number =>
            some.filter((key) => key[0] === name).length;
          for (const key of next)
            expect(inNamespace(key[0], [...held, ...next])).to.be.at.most(Math.max(most, inNamespace(key[0], held)));
          for (const [key, { waitingSince }] of Object.entries(standings)) {
            if (waitingSince === null) continue;
            expect(slots.placeOf(key, waitingSince) === null, key).to.equal(next.includes(key));
            const mayHaveOne = inNamespace(key[0], [...held, ...next]) < most && held.length + next.length < limit;
            if (!next.includes(key)) expect(mayHaveOne, key).to.equal(false);
          }
        },
      ),
    );
  });
});
