import { joined, type Line, line, type Piece, piece, type Style, table, widthOf, wrapped } from './lines.ts';
import type { Room, Told } from './live.ts';
import { type CellState, cellStates, type SequenceView, type StageView } from './sequence-view.ts';

const indent = 4;
const labelColumns = 'waiting'.length;
/** So many clusters are named in a line. */
const mostNamed = 4;

const tones: Readonly<Record<StageView['state'], Style>> = {
  Empty: 'dim',
  Waiting: 'dim',
  Rolling: 'cyan',
  Failing: 'red',
  Soaking: 'yellow',
  Complete: 'green',
};

/** A sequence in detail: a row for each stage, and below it a cell for each cluster. */
export function sequenceBlock(view: SequenceView, { columns, rows }: Room): readonly Line[] {
  const { stages } = view;
  const notes = stages.map((stage) => notesOf(stage, columns));
  const cells = stages.flatMap((stage) => stage.cells);
  const above = [...header(view, columns), []];
  const [titles = [], ...stageRows] = stageTable(stages);
  const others = above.length + 1 + stageRows.length + notes.flat().length;
  const room = columns - indent;
  const perCell = clustersPerCell(
    stages.map(({ clusters }) => clusters),
    room,
    rows === null ? null : rows - others - 1 - legend(cells, 2, columns).length,
  );
  const meaning = legend(cells, perCell, columns);
  return [
    ...above,
    titles,
    ...stages.flatMap((stage, index) => [
      stageRows[index] ?? [],
      ...cellRows(stage.cells, perCell, columns, indent),
      ...(notes[index] ?? []),
    ]),
    ...(meaning.length === 0 ? [] : [[], ...meaning]),
  ];
}

function header(view: SequenceView, columns: number): readonly Line[] {
  const { name, phase, stalled, complete, clusters, upToDate, message } = view;
  return [
    [
      piece(name, 'bold'),
      piece('   '),
      piece(phase, stalled ? 'red' : complete ? 'green' : 'cyan'),
      piece(`   ${upToDate} of ${clusters} clusters up to date`),
    ],
    ...wrapped([piece('  ')], message, columns, stalled ? 'red' : 'plain'),
  ];
}

function stageTable(stages: readonly StageView[]): readonly Line[] {
  const count = (number: number, style: Style): Line => line(String(number), number === 0 ? 'dim' : style);
  return table(
    ['STAGE', 'STATE', 'UP TO DATE', 'ROLLING', 'WAITING', 'FAILING', 'SOAKED UNTIL'],
    stages.map((stage) => [
      line(stage.name, 'bold'),
      line(stage.state, tones[stage.state]),
      line(`${stage.upToDate}/${stage.clusters}`),
      [piece(String(stage.rolling), stage.rolling === 0 ? 'dim' : 'cyan'), piece(` of ${stage.limit}`, 'dim')],
      count(stage.waiting, 'plain'),
      count(stage.failing, 'red'),
      line(stage.soakedUntil ?? '-'),
    ]),
    '  ',
  );
}

function notesOf(
  { waitsFor, heldBy, rollingClusters, failingClusters, state, stoppedBy }: StageView,
  columns: number,
): readonly Line[] {
  const note = (label: string, style: Style, text: string): readonly Line[] =>
    text === ''
      ? []
      : wrapped([piece(' '.repeat(indent)), piece(label.padEnd(labelColumns), style), piece('  ')], text, columns);
  const isStopped = state === 'Waiting' && waitsFor === null && stoppedBy !== undefined;
  return [
    ...note('failing', 'red', someOf(failingClusters)),
    ...note('rolling', 'cyan', someOf(rollingClusters)),
    ...note('held', 'yellow', heldBy.map(({ rule, clusters }) => `${rule} ${clusters}`).join(', ')),
    ...note('waiting', 'yellow', waitsFor === null ? '' : `${waitsFor.rule}: ${waitsFor.message}`),
    ...note('waiting', 'yellow', isStopped ? `${stoppedBy} is not up to date and healthy` : ''),
  ];
}

function someOf(names: readonly string[]): string {
  const named = names.slice(0, mostNamed).join(', ');
  return names.length > mostNamed ? `${named} and ${names.length - mostNamed} more` : named;
}

/** A table with one line for each sequence. */
export function sequenceList(views: readonly SequenceView[], wide: boolean): readonly Line[] {
  return table(
    ['NAME', 'STAGE', 'CLUSTERS', 'UP TO DATE', 'ROLLING', 'FAILING', ...(wide ? ['STAGES'] : []), 'WAITING FOR'],
    views.map((view) => [
      line(view.name, 'bold'),
      line(view.stage ?? '-'),
      line(String(view.clusters)),
      line(String(view.upToDate)),
      line(String(view.rolling), view.rolling === 0 ? 'plain' : 'cyan'),
      line(String(view.failing), view.failing === 0 ? 'plain' : 'red'),
      ...(wide ? [line(view.stages.map(shortly).join(', '))] : []),
      [piece(`${view.phase}: `, view.stalled ? 'red' : view.complete ? 'green' : 'bold'), piece(view.message)],
    ]),
  );
}

const shortly = ({ name, state, upToDate, clusters }: StageView): string => `${name} ${state} ${upToDate}/${clusters}`;

/** A line for each stage, for logs and pipes. */
export function toldOfStages({ name, stages }: SequenceView): readonly Told[] {
  return stages.map((stage) => {
    const { state, upToDate, clusters, rolling, failing, soakedUntil, stoppedBy, waitsFor } = stage;
    const key = `${name}/${stage.name}`;
    const text = [
      key,
      state,
      `${upToDate}/${clusters} up to date`,
      `${rolling} rolling`,
      `${failing} failing`,
      soakedUntil && `soaked until ${soakedUntil}`,
      waitsFor === null
        ? stoppedBy && `${stoppedBy} is not up to date and healthy`
        : `${waitsFor.rule}: ${waitsFor.message}`,
    ];
    return { key, text: text.filter(Boolean).join('  ') };
  });
}

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
