import { expect } from 'chai';
import type { Played } from './play.ts';
import { scenarioTable, shortTable, wayTable } from './results.ts';

const played: Played = {
  slug: 'healthy-3',
  title: 'healthy, 3 members',
  way: 'on-delete',
  members: 3,
  seconds: 108.6,
  limitSeconds: 104,
  awaySeconds: [30.2, 31.8, 33],
  gaps: {
    kept: [{ fromMilliseconds: 0, milliseconds: 1870 }],
    fresh: [{ fromMilliseconds: 0, milliseconds: 2120 }],
  },
  acknowledged: 20_000,
  lost: 0,
  order: [2, 1, 0],
  errors: {},
  complaints: [],
};

const none = { kept: [], fresh: [] };

describe('the tables of real rollouts', () => {
  it('have a row for each scenario, with all of its runs', () => {
    const killed = { ...played, slug: 'killed', title: 'killed', limitSeconds: null, gaps: none, lost: 2 };
    const again = { ...played, seconds: 120, order: [2, 0, 1], complaints: ['slow'] };
    expect(scenarioTable([played, killed, again]).rows).to.deep.equal([
      [
        'healthy, 3 members',
        '114 (109 – 120)',
        '1.10 (1.04 – 1.15)',
        '2 1 0; 2 0 1',
        '30 32 33; 30 32 33',
        '1.9 s; 1.9 s',
        '2.1 s; 2.1 s',
        '40000',
        '0',
        '1 of 2',
      ],
      ['killed', '109', '', '2 1 0', '30 32 33', 'none', 'none', '20000', '2', '1 of 1'],
    ]);
  });

  it('have how long writes waited in most of many runs', () => {
    const gap = (milliseconds: number) => [{ fromMilliseconds: 0, milliseconds }];
    const runs = Array.from({ length: 10 }, (_, index) => {
      const milliseconds = 2000 + 100 * index;
      return { ...played, gaps: { kept: gap(milliseconds), fresh: gap(milliseconds + 50) } };
    });
    expect(scenarioTable(runs).rows[0]?.slice(5, 7)).to.deep.equal([
      'p50 2.4 s, p90 2.8 s, p100 2.9 s',
      'p50 2.5 s, p90 2.9 s, p100 3.0 s',
    ]);
  });

  it('have the medians of all ways side by side, of sizes that each way has been played with', () => {
    const moco = { ...played, slug: 'moco-3', way: 'moco', seconds: 150, gaps: none };
    const native = { ...played, slug: 'native-3', way: 'native', seconds: 80, lost: 1 };
    const five = { ...played, slug: 'healthy-5', members: 5 };
    expect(shortTable([played, moco, native, five]).rows).to.deep.equal([
      ['3 members', '80, 2.1, 1', '150, 0.0, 0', '109, 2.1, 0'],
    ]);
  });

  it('have all runs of a way and a size in one row, and nothing but healthy rollouts', () => {
    const others = { ...played, slug: 'native-3', way: 'native', seconds: 80, lost: 1, gaps: none };
    const slower = { ...played, seconds: 111 };
    const five = { ...played, slug: 'healthy-5', members: 5 };
    const disturbed = { ...played, slug: 'kill-primary' };
    expect(wayTable([played, others, slower, five, disturbed]).rows).to.deep.equal([
      ['moco-rollout', '3', '2', '110 (109 – 111)', '1, 1', '1.9 (1.9 – 1.9)', '1, 1', '2.1 (2.1 – 2.1)', '40000', '0'],
      ['native RollingUpdate', '3', '1', '80', '0', '0.0', '0', '0.0', '20000', '1'],
      ['moco-rollout', '5', '1', '109', '1', '1.9', '1', '2.1', '20000', '0'],
    ]);
  });
});
