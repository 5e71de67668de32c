import { spreadOf } from '../record/spread.ts';
import { rowTitle } from './matrix.ts';
import type { Results } from './results.ts';
import { judgedWay } from './way.ts';

/** The target of the judged way against the limit, as a median, if restarts are at least this long. */
export const mostRatio = 1.03;
const judgedRestartSeconds = 2;
const mostMoves = 1;

/** A sentence for each figure that is missed. */
export function missedFigures(results: Results): readonly string[] {
  const way = results.ways.find(({ slug }) => slug === judgedWay);
  if (way === undefined) return [];
  return results.rows.flatMap((row) => {
    const title = `${way.title}, ${rowTitle(row)}`;
    const measured = results.of(row, way).map(({ result }) => result);
    const ratio = spreadOf(results.ratios(row, way)).median;
    const moves = Math.max(0, ...measured.map((result) => result.moves));
    const isSlow = row.restartSeconds >= judgedRestartSeconds && ratio > mostRatio;
    return [
      ...(isSlow ? [`${title}: ${ratio.toFixed(3)} of the limit, at most ${mostRatio} is wanted`] : []),
      ...(moves > mostMoves ? [`${title}: the primary moved ${moves} times, at most once is wanted`] : []),
      ...measured.flatMap(({ stuck }) => (stuck === null ? [] : [`${title}: waits for a person (${stuck})`])),
    ];
  });
}
