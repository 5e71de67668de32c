import { type Line, piece } from '../../src/cli/painted.ts';
import { spreadOf } from '../bench-record/spread.ts';
import { exactly } from '../demo/durations.ts';
import { isMeasured, type Row, rowTitle } from './matrix.ts';
import type { Results } from './results.ts';

const barColumns = 60;

/** The ways beside each other in one row, the limit's part of each first. */
export function barLines(results: Results, row: Row): readonly Line[] {
  const limit = results.limit(row);
  if (limit === null) return [];
  const bars = results.ways.flatMap((way) => {
    const ratios = isMeasured(row, way) ? results.ratios(row, way) : [];
    return ratios.length === 0 ? [] : [{ title: way.title, ratio: spreadOf(ratios).median }];
  });
  const longest = Math.max(1, ...bars.map(({ ratio }) => ratio));
  const width = Math.max(...bars.map(({ title }) => title.length));
  const one = barColumns / longest;
  return [
    [piece(`${rowTitle(row)}: the limit ${'▓'.repeat(3)} is ${exactly(limit)}`, 'bold')],
    ...bars.map(({ title, ratio }): Line => {
      const within = Math.min(ratio, 1);
      return [
        piece(`  ${title.padEnd(width)}  `),
        piece('▓'.repeat(Math.round(within * one)), 'dim'),
        piece('█'.repeat(Math.max(0, Math.round(ratio * one) - Math.round(within * one))), 'yellow'),
        piece(` ${exactly(ratio * limit)}`),
      ];
    }),
  ];
}
