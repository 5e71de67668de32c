import { type Line, piece, type Style } from '../../src/cli/painted.ts';
import { median } from '../demo/bench-table.ts';
import { exactly } from '../demo/durations.ts';
import type { Result } from './result.ts';

/** All rollouts in one way on one control plane. */
export interface Row {
  readonly setting: string;
  readonly way: string;
  readonly results: readonly Result[];
  /** Of the native way on the same control plane. */
  readonly native: readonly Result[];
}

/** What the own partitions have to keep, against the native way. */
export const ownRatioLimit = 1.2;

interface Spread {
  readonly median: number;
  readonly lowest: number;
  readonly highest: number;
}

function spread(results: readonly Result[], of: (result: Result) => number): Spread {
  const values = results.map(of);
  return { median: median(values) ?? Number.NaN, lowest: Math.min(...values), highest: Math.max(...values) };
}

const againstNative = ({ results, native }: Row): number =>
  spread(results, ({ rollout }) => rollout).median / spread(native, ({ rollout }) => rollout).median;
const againstParts = ({ results }: Row): number => spread(results, ({ rollout, parts }) => rollout / parts).median;

const titles = ['WAY', 'ROLLOUT', '(from - to)', '/ NATIVE', '/ PARTS', 'NO WRITES', '(from - to)', 'MOVES', 'AWAY'];

/** A row a way, one control plane after the other. */
export function modesLines(rows: readonly Row[]): readonly Line[] {
  const cells = rows.map((row) => [row.way, ...cellsOf(row)]);
  const widths = titles.map((_, index) => Math.max(...[titles, ...cells].map((row) => (row[index] ?? '').length)));
  const line = (row: readonly string[], style: Style): Line =>
    row.map((cell, index) => {
      const width = widths[index] ?? 0;
      return piece(`  ${index === 0 ? cell.padEnd(width) : cell.padStart(width)}`, style);
    });
  const sections = [...new Set(rows.map(({ setting }) => setting))].flatMap((setting): Line[] => [
    [],
    [piece(`  ${setting}`, 'dim')],
    ...cells.filter((_, index) => rows[index]?.setting === setting).map((row) => line(row, 'plain')),
  ]);
  return [line(titles, 'dim'), ...sections, [], ...legend];
}

function cellsOf(row: Row): readonly string[] {
  const { results } = row;
  const range = ({ lowest, highest }: Spread): string => `${exactly(lowest)} - ${exactly(highest)}`;
  const rollout = spread(results, (result) => result.rollout);
  const withoutWrites = spread(results, (result) => result.withoutWrites);
  return [
    exactly(rollout.median),
    range(rollout),
    againstNative(row).toFixed(2),
    againstParts(row).toFixed(2),
    exactly(withoutWrites.median),
    range(withoutWrites),
    String(spread(results, ({ switchovers }) => switchovers).median),
    String(spread(results, ({ mostAway }) => mostAway).highest),
  ];
}

const legend: readonly Line[] = [
  'ROLLOUT    from the template change to the last member being back: the median, the shortest and the longest',
  `/ NATIVE   through the native one on the same control plane; at most ${ownRatioLimit} is wanted of own partitions`,
  "/ PARTS    through the members' own restarts and one switchover, one after the other",
  'NO WRITES  for how long no member took writes, altogether',
  'MOVES      how often the primary moved, and AWAY how many members were away at once at the worst moment',
].map((text) => [piece(`  ${text}`, 'dim')]);

/** For programs: durations in seconds, to the millisecond. */
export function modesJson(rows: readonly Row[]) {
  const seconds = (milliseconds: number): number => Math.round(milliseconds) / 1000;
  const ratio = (value: number): number => Math.round(value * 1000) / 1000;
  return {
    ownRatioLimit,
    ways: rows.map((row) => ({
      setting: row.setting,
      way: row.way,
      rolloutSeconds: seconds(spread(row.results, ({ rollout }) => rollout).median),
      againstNative: ratio(againstNative(row)),
      againstParts: ratio(againstParts(row)),
      runs: row.results.map(({ rollout, parts, withoutWrites, switchovers, mostAway }) => ({
        rolloutSeconds: seconds(rollout),
        partsSeconds: seconds(parts),
        withoutWritesSeconds: seconds(withoutWrites),
        switchovers,
        mostAway,
      })),
    })),
  };
}
