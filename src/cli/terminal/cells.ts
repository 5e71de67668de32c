import { joined, type Line, type Piece, piece, type Style, widthOf } from './colour.ts';

/** What a cluster of a stage does, those first that a person should look at. */
export const cellStates = ['failing', 'notHealthy', 'held', 'rolling', 'waiting', 'upToDate'] as const;
export type CellState = (typeof cellStates)[number];

interface Look {
  /** Different ones, since a terminal may have no colours. */
  readonly sign: string;
  readonly style: Style;
  readonly meaning: string;
}

const looks: Readonly<Record<CellState, Look>> = {
  failing: { sign: '×', style: 'red', meaning: 'failing' },
  notHealthy: { sign: '?', style: 'red', meaning: 'not known to be healthy' },
  held: { sign: '◇', style: 'yellow', meaning: 'held by a rule of its own' },
  rolling: { sign: '◧', style: 'cyan', meaning: 'rolling' },
  waiting: { sign: '□', style: 'dim', meaning: 'waiting for its turn' },
  upToDate: { sign: '■', style: 'green', meaning: 'up to date and healthy' },
};

/** Rows of cells, one for so many clusters each. A cell of several clusters shows the one to look at first. */
export function cellRows(
  states: readonly CellState[],
  perCell: number,
  columns: number,
  indent: number,
): readonly Line[] {
  const cells = inGroups(states, perCell).map(mostUrgent);
  return inGroups(cells, Math.max(1, columns - indent)).map(
    (row): Line => [piece(' '.repeat(indent)), ...joined(row.map(signOf))],
  );
}

/** How many clusters a cell has to stand for so that the rows of all stages fit. `rows` null: no limit. */
export function clustersPerCell(stages: readonly number[], room: number, rows: number | null): number {
  if (rows === null) return 1;
  const isTooMuch = (perCell: number): boolean =>
    stages.reduce((sum, clusters) => sum + Math.ceil(Math.ceil(clusters / perCell) / Math.max(1, room)), 0) > rows;
  const most = Math.max(1, ...stages);
  for (let perCell = 1; perCell < most; perCell += 1) {
    if (!isTooMuch(perCell)) return perCell;
  }
  return most;
}

/** What the signs mean, and how many clusters there are of each. */
export function legend(states: readonly CellState[], perCell: number, columns: number): readonly Line[] {
  const counts = Map.groupBy(states, (state) => state);
  const entries = cellStates.toReversed().flatMap((state): readonly (readonly Piece[])[] => {
    const count = counts.get(state)?.length ?? 0;
    const { sign, style, meaning } = looks[state];
    return count === 0 ? [] : [[piece('  '), piece(sign, style), piece(` ${count} ${meaning}`)]];
  });
  const scale = perCell === 1 ? [] : [[piece(`  each sign stands for up to ${perCell} clusters`, 'dim')]];
  const lines: (readonly Piece[])[] = [];
  for (const entry of [...entries, ...scale]) {
    const last = lines.at(-1);
    if (last !== undefined && widthOf([...last, ...entry]) <= columns) lines[lines.length - 1] = [...last, ...entry];
    else lines.push(entry);
  }
  return lines;
}

const mostUrgent = (group: readonly CellState[]): CellState =>
  cellStates.find((state) => group.includes(state)) ?? 'upToDate';

const signOf = (state: CellState): Piece => piece(looks[state].sign, looks[state].style);

function inGroups<Item>(all: readonly Item[], size: number): readonly (readonly Item[])[] {
  return Array.from({ length: Math.ceil(all.length / size) }, (_, index) =>
    all.slice(index * size, (index + 1) * size),
  );
}
