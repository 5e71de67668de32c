import * as c from './cells.ts';

// Which of the three reads of a confirmation a move changes.

const readBy = (...reads: readonly c.Declared['read'][]): readonly number[] =>
  c.cells.filter(({ read }) => reads.includes(read)).map(({ at }) => at);
const around = readBy('around', 'budget', 'both');
const aroundButBudget = around.filter((at) => at !== c.OPEN);
const last = readBy('cluster', 'both');

const differ = (cells: readonly number[], before: c.Cells, after: c.Cells): boolean =>
  cells.some((at) => before[at] !== after[at]);

/** The StatefulSet, the budgets, the MySQLRollout. */
export const isAround = (before: c.Cells, after: c.Cells): boolean => differ(around, before, after);

/** The same, read before the pods. A budget that was closed when it was read lets nothing through. */
export function isFirstRead(before: c.Cells, after: c.Cells): boolean {
  if (!isAround(before, after)) return false;
  const onlyOpened = before[c.OPEN] === 0 && after[c.OPEN] === 1 && !differ(aroundButBudget, before, after);
  return !onlyOpened;
}

/** The MySQLCluster. */
export const isLastRead = (before: c.Cells, after: c.Cells): boolean => differ(last, before, after);
