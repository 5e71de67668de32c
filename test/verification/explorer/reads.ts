import * as c from './cells.ts';

// Which of the three reads of a confirmation a move changes.

const around = [
  c.OPEN,
  c.COMPUTED,
  c.BACKUP,
  c.TARGET,
  c.STAGE,
  c.PAUSED,
  c.HELD,
  c.APPROVED,
  c.PARTITION,
  c.SCALE,
  c.WINDOW,
  c.DELAYED,
  c.NEW_PODS,
  c.FOLLOWS,
  c.CURRENT,
  c.RESTORE,
];
const last = [c.INDEX, c.STATUS, c.SYNCED, c.ERRANT, c.STAGE, c.SCALE];

const differ = (cells: readonly number[], before: c.Cells, after: c.Cells): boolean =>
  cells.some((at) => before[at] !== after[at]);

/** The StatefulSet, the budgets, the MySQLRollout. */
export const isAround = (before: c.Cells, after: c.Cells): boolean => differ(around, before, after);

/** The same, read before the pods. A budget that was closed when it was read lets nothing through. */
export function isFirstRead(before: c.Cells, after: c.Cells): boolean {
  if (!isAround(before, after)) return false;
  const onlyOpened = before[c.OPEN] === 0 && after[c.OPEN] === 1 && !differ(around.slice(1), before, after);
  return !onlyOpened;
}

/** The MySQLCluster. */
export const isLastRead = (before: c.Cells, after: c.Cells): boolean => differ(last, before, after);
