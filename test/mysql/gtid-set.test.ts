import { expect } from 'chai';
import * as fc from 'fast-check';
import { countGtids, type GtidSet, parseGtidSet, subtract, union } from '../../src/mysql/gtid-set.ts';

const uuids = ['3e11fa47-71ca-11e1-9e33-c80aa9429562', '4e11fa47-71ca-11e1-9e33-c80aa9429562'] as const;

/** The set as plain members, such as `uuid:7`. */
type Members = ReadonlySet<string>;

const interval = fc
  .tuple(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 0, max: 9 }))
  .map(([from, more]) => [from, from + more] as const);
const piece = fc.record({
  uuid: fc.constantFrom(...uuids),
  tag: fc.constantFrom('', 'blue', 'green'),
  intervals: fc.array(interval, { minLength: 1, maxLength: 4 }),
});
const text = fc.array(piece, { maxLength: 5 }).map((pieces) =>
  pieces
    .map(({ uuid, tag, intervals }) => {
      const written = intervals.map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`));
      return [uuid, ...(tag === '' ? [] : [tag]), ...written].join(':');
    })
    .join(',\n'),
);

/** By the definition alone, number by number. */
function membersOf(set: GtidSet): Members {
  const members = new Set<string>();
  for (const [key, intervals] of set) {
    for (const [from, to] of intervals) for (let at = from; at <= to; at += 1) members.add(`${key}:${at}`);
  }
  return members;
}

const sorted = (members: Iterable<string>): readonly string[] => [...members].toSorted();

describe('a set of GTIDs', () => {
  it('is read as MySQL writes it', () => {
    const [uuid] = uuids;
    expect([...parseGtidSet(`${uuid.toUpperCase()}:1-5:7:6,\n${uuids[1]}:3`)]).to.deep.equal([
      [uuid, [[1, 7]]],
      [uuids[1], [[3, 3]]],
    ]);
    expect([...parseGtidSet('')]).to.deep.equal([]);
    expect([...parseGtidSet(`${uuid}:1-2:blue:1:9-10`)]).to.deep.equal([
      [uuid, [[1, 2]]],
      [
        `${uuid}:blue`,
        [
          [1, 1],
          [9, 10],
        ],
      ],
    ]);
  });

  for (const wrong of ['x', uuids[0], `${uuids[0]}:0`, `${uuids[0]}:5-3`, `${uuids[0]}:1-`, `${uuids[0]}:9-b`, '1-5']) {
    it(`is not ${JSON.stringify(wrong)}`, () => {
      expect(() => parseGtidSet(wrong)).to.throw('expected a set of GTIDs');
    });
  }

  it('never reads a number that JavaScript does not have', () => {
    expect(() => parseGtidSet(`${uuids[0]}:1-9223372036854775807`)).to.throw('expected a set of GTIDs');
  });

  it('adds, subtracts and counts as sets do', () => {
    fc.assert(
      fc.property(text, text, (one, other) => {
        const [a, b] = [parseGtidSet(one), parseGtidSet(other)];
        const [inA, inB] = [membersOf(a), membersOf(b)];
        expect(sorted(membersOf(union(a, b)))).to.deep.equal(sorted(new Set([...inA, ...inB])));
        expect(sorted(membersOf(subtract(a, b)))).to.deep.equal(sorted([...inA].filter((one) => !inB.has(one))));
        expect(countGtids(a)).to.equal(inA.size);
        expect(countGtids(subtract(a, a))).to.equal(0);
      }),
      { numRuns: 500 },
    );
  });

  it('keeps intervals apart and in order', () => {
    fc.assert(
      fc.property(text, text, (one, other) => {
        const [a, b] = [parseGtidSet(one), parseGtidSet(other)];
        for (const intervals of [...union(a, b).values(), ...subtract(a, b).values()]) {
          expect(intervals.length).to.be.greaterThan(0);
          for (const [index, [from, to]] of intervals.entries()) {
            expect(from).to.be.at.most(to);
            expect(from).to.be.greaterThan((intervals[index - 1]?.[1] ?? -1) + 1);
          }
        }
      }),
    );
  });
});
