import { expect } from 'chai';
import type { Result } from '../../../../hack/bench/rollouts/cell.ts';
import { missedFigures } from '../../../../hack/bench/rollouts/figures.ts';
import { cellsOf } from '../../../../hack/bench/rollouts/matrix.ts';
import { beginMeasure } from '../../../../hack/bench/rollouts/measure.ts';
import { type Measured, Results } from '../../../../hack/bench/rollouts/results.ts';
import { tablesOf } from '../../../../hack/bench/rollouts/tables.ts';

/** Rollouts of 10 s of which 8 s can't be avoided, but for what `changes` says of a way's run in a scenario. */
function results(runs: number, changes: Readonly<Record<string, Partial<Result>>> = {}): Results {
  const cells = ['native-healthy', 'native-backup', 'on-delete-healthy', 'on-delete-backup'].flatMap((what) =>
    cellsOf(runs, `${what}-3-of-2000-and-0`),
  );
  const measured = cells.map((cell): Measured => {
    const { way, scenario, run } = cell;
    const limit = way.slug === 'on-delete' ? 8000 : null;
    const gaps = limit === null ? null : { first: 40, moco: [30, 50, run], reaction: [9, 8, 7] };
    const usual = { rollout: 8100, stuck: null, limit, gaps, moves: 1, mostUnavailable: 1, duringBackup: 0 };
    const withoutCommits = { milliseconds: 300, goesOn: false };
    const counted = { withoutCommits, measure: beginMeasure(0) };
    const result = { ...usual, ...counted, ...changes[`${way.slug} ${scenario.slug} ${run}`] };
    return { cell, result };
  });
  return new Results(measured);
}

const cells = (all: Results, name: string): readonly (readonly string[])[] =>
  tablesOf(all).find((table) => table.name === name)?.rows ?? [];
const title = (what: string): string => `${what}: 3 × 2 s`;

describe('hack/bench/rollouts: results', () => {
  it('compare rollouts with the limit: OnDelete by its own, others by the median', () => {
    const all = results(3, {
      'on-delete healthy 1': { rollout: 9000, limit: 9000 },
      'on-delete healthy 2': { rollout: 8800 },
      'native healthy 3': { rollout: 16_000 },
    });
    expect(cells(all, 'time')[0]).to.deep.equal([title('healthy'), '8.00 s', '1.01 ± 0.99', '1.01 ± 0.09']);
  });

  it('name rollouts that wait for a person, and that wait without commits', () => {
    const waits = { rollout: null, stuck: '1 of 3 updated', withoutCommits: { milliseconds: 9, goesOn: true } };
    const all = results(2, { 'native healthy 1': waits, 'native backup 1': waits, 'native backup 2': waits });
    expect(cells(all, 'time').map((row) => row[2])).to.deep.equal(['1.01, 1 wait', 'waits']);
    expect(cells(all, 'commits').map((row) => row[1])).to.deep.equal(['for ever', 'for ever']);
    expect(all.waiting()[0]).to.equal('native, healthy: 3 × 2 s: waits for a person (1 of 3 updated)');
    expect(missedFigures(all)).to.deep.equal([]);
  });

  it('attribute the time beyond the limit, for every step of every run', () => {
    expect(cells(results(3), 'gaps')[0]).to.deep.equal([title('healthy'), '40 ms', '30 ms', '8 ms']);
  });

  it('report disruptions during a backup only if there was one', () => {
    const all = results(1, { 'native backup 1': { duringBackup: 2 } });
    expect(cells(all, 'backup')).to.deep.equal([[title('a backup in the middle'), '2', '0']]);
  });

  it('miss a target if OnDelete is slow, moves the primary twice or waits, whatever the others do', () => {
    const slow = { rollout: 8500 };
    const all = results(3, {
      'native healthy 1': { moves: 7 },
      'on-delete healthy 1': slow,
      'on-delete healthy 2': slow,
      'on-delete backup 1': { moves: 2 },
      'on-delete backup 2': { rollout: null, stuck: 'nobody moves' },
      'on-delete backup 3': { rollout: 8300 },
    });
    expect(missedFigures(all)).to.deep.equal([
      'OnDelete, healthy: 3 × 2 s: 1.063 of the limit, at most 1.03 is wanted',
      'OnDelete, a backup in the middle: 3 × 2 s: the primary moved 2 times, at most once is wanted',
      'OnDelete, a backup in the middle: 3 × 2 s: waits for a person (nobody moves)',
    ]);
  });
});
