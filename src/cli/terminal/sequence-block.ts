import { cellRows, clustersPerCell, legend } from './cells.ts';
import { type Line, line, piece, type Style } from './colour.ts';
import type { Room } from './live.ts';
import type { SequenceView, StageView } from './sequence-view.ts';
import { table } from './table.ts';
import { wrapped } from './wrapped.ts';

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
