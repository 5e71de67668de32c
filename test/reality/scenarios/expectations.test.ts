import { expect } from 'chai';
import { complaints, type Expectations, type Facts, gapsSince, inSeconds, inWords } from './expectations.ts';

const expected: Expectations = {
  order: [2, 1, 0],
  gaps: { most: 1, longestMilliseconds: 2500 },
  mayTakePrimary: false,
  isQuiet: true,
  mostRatio: 1.05,
};
const departure = (ordinal: number, asPrimary = false) => ({ ordinal, atMilliseconds: 0, asPrimary });
const member = { member: 'moco-test-0', rows: 3, missing: [], unreadable: null };
const good: Facts = {
  rows: [member],
  gaps: { kept: [{ fromMilliseconds: 0, milliseconds: 1900 }], fresh: [] },
  departures: [departure(2), departure(1), departure(0)],
  alarms: [],
  findings: [],
  ratio: 1.02,
  unfinished: null,
};

describe('the result of a scenario', () => {
  it('is good without a complaint', () => {
    expect(complaints(good, expected)).to.deep.equal([]);
  });

  const cases: readonly (readonly [what: string, facts: Partial<Facts>, complaint: string])[] = [
    ['a lost row', { rows: [{ ...member, missing: [[1, 2]] }] }, 'moco-test-0 lost 1 acknowledged rows'],
    ['a member that was not compared', { rows: [] }, 'no member’s rows were compared'],
    [
      'a member that does not answer',
      { rows: [{ ...member, missing: [[1, 2]], unreadable: 'ECONNREFUSED' }] },
      'the rows of moco-test-0 could not be read (ECONNREFUSED)',
    ],
    [
      'a gap that is too long',
      { gaps: { ...good.gaps, fresh: [{ fromMilliseconds: 0, milliseconds: 2600 }] } },
      'write gaps of new connections of 2.6 s, at most 2.5 s expected',
    ],
    [
      'one gap too many',
      { gaps: { ...good.gaps, kept: [...good.gaps.kept, { fromMilliseconds: 5000, milliseconds: 1300 }] } },
      '2 write gaps of kept connections (1.9 s, 1.3 s), at most 1 expected',
    ],
    [
      'another order',
      { departures: [departure(1), departure(2), departure(0)] },
      'members went 1, 2, 0; 2, 1, 0 expected',
    ],
    [
      'a primary that goes',
      { departures: [departure(2), departure(1), departure(0, true)] },
      'member 0 went while it was primary',
    ],
    ['an alarm', { alarms: ['Warning RolloutStalled: x'] }, 'Warning RolloutStalled: x'],
    ['what the witness found', { findings: ['I2: x'] }, 'I2: x'],
    ['a slow rollout', { ratio: 1.0512 }, '1.051 times the restarts, at most 1.05 expected'],
    ['a rollout that does not end', { unfinished: 'Expected the end' }, 'Expected the end'],
  ];
  for (const [what, facts, complaint] of cases) {
    it(`complains of ${what}`, () => {
      expect(complaints({ ...good, ...facts }, expected)).to.deep.equal([complaint]);
    });
  }

  it('shows pauses of less than a second without judging them', () => {
    const kept = [...good.gaps.kept, { fromMilliseconds: 5000, milliseconds: 900 }];
    expect(complaints({ ...good, gaps: { kept, fresh: [] } }, expected)).to.deep.equal([]);
  });

  it('lists gaps of a second and more, and counts the others', () => {
    const { kept } = good.gaps;
    const more = [...kept, { fromMilliseconds: 5000, milliseconds: 900 }];
    expect([inSeconds([]), inSeconds(kept), inSeconds(more)]).to.deep.equal(['', '1.9 s', '1.9 s, 1 under a second']);
  });

  it('says of both kinds of writers when no write was acknowledged', () => {
    expect(inWords(good.gaps)).to.equal('kept connections: 1.9 s; new connections: none');
  });

  it('leaves out gaps that were over before', () => {
    const fresh = [{ fromMilliseconds: 1500, milliseconds: 1000 }];
    expect(gapsSince({ ...good.gaps, fresh }, 2000)).to.deep.equal({ kept: [], fresh });
  });

  it('asks only what was expected', () => {
    const facts = { ...good, alarms: ['Warning'], ratio: 2, departures: [departure(0)] };
    expect(complaints(facts, { ...expected, order: null, isQuiet: false, mostRatio: null })).to.deep.equal([]);
  });

  it('allows others than this controller to end a primary', () => {
    const facts = { ...good, departures: [departure(2), departure(1), departure(0, true)] };
    expect(complaints(facts, { ...expected, mayTakePrimary: true })).to.deep.equal([]);
  });
});
