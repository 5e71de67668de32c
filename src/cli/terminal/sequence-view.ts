import type { SequenceRecord, StageStatus } from '../../api/rollout-sequence.ts';
import { isTrue, type RolloutStatus } from '../../api/rollout-status.ts';
import type { Stages } from '../../controller/fleet/sequence-stages.ts';
import { sequenceStatusOf } from '../../controller/fleet/sequence-status.ts';
import { concurrencyOf, type StagedCluster } from '../../core/fleet/stage-counts.ts';
import { stageGates } from '../../core/fleet/stage-waits.ts';
import { explainHold } from '../../core/rules/catalogue.ts';
import { splitKey } from '../../kube/store.ts';
import {
  joined,
  type Line,
  line,
  type Piece,
  phasePiece,
  piece,
  type Style,
  someOf,
  table,
  widthOf,
  wrapped,
} from './lines.ts';
import type { Room, Told } from './live.ts';

// How `sequence` shows the stages of a MySQLRolloutSequence and their clusters.

/**
 * The states of a cluster in a stage, in the order in which a person should look at them. Each state has its own
 * symbol, because a terminal may lack colors.
 */
const looks = {
  failing: ['×', 'red', 'failing'],
  notHealthy: ['?', 'red', 'not known to be healthy'],
  held: ['◇', 'yellow', 'held by a rule of its own'],
  rolling: ['◧', 'cyan', 'rolling'],
  waiting: ['□', 'dim', 'waiting for its turn'],
  upToDate: ['■', 'green', 'up to date and healthy'],
} as const satisfies Readonly<Record<string, readonly [sign: string, style: Style, meaning: string]>>;

type CellState = keyof typeof looks;
const cellStates = Object.keys(looks) as readonly CellState[];

/** A MySQLRolloutSequence with the current state of its clusters. */
export type SequenceView = ReturnType<typeof sequenceViewOf>;
type StageView = SequenceView['stages'][number];

/**
 * The view of a sequence. It is computed by the controller's functions, so that it shows what the controller's
 * decisions are based on.
 */
export function sequenceViewOf(
  record: SequenceRecord,
  stages: Pick<Stages, 'countsOf' | 'conflictsOf' | 'clustersOf' | 'waits'>,
  statusOf: (key: string) => RolloutStatus,
  nowSeconds: number,
) {
  const { name, sequence } = record;
  const counts = stages.countsOf(sequence);
  const status = sequenceStatusOf({ record, counts, conflicts: stages.conflictsOf(name), nowSeconds });
  const { stages: shown = [], conditions = [] } = status;
  const clusters = stages.clustersOf(name);
  const firstHold = (index: number) => {
    const [waiting] = counts[index]?.queue ?? [];
    const [hold] =
      waiting === undefined
        ? stageGates(sequence, counts, index).filter((gate) => !('until' in gate) || gate.until > nowSeconds)
        : stages.waits(waiting.key, statusOf(waiting.key).rollout?.revision ?? '', nowSeconds).map((wait) => wait.hold);
    // The column for rolling clusters already shows the number of slots.
    return hold === undefined || hold.rule === 'AwaitingStageSlot'
      ? null
      : `${hold.rule}: ${explainHold(hold, String)}`;
  };
  const stageViewOf = (one: StageStatus, index: number) => {
    const stage = sequence.stages[index];
    const own = clusters.filter(({ places }) =>
      places.some((place) => place.sequence.name === name && place.stage === index),
    );
    const cells = own.map((cluster) => cellOf(cluster, statusOf(cluster.key)));
    const named = (state: CellState) => own.flatMap(({ key }, at) => (cells[at] === state ? [key] : []));
    const held = Map.groupBy(named('held'), (key) => statusOf(key).hold?.rule ?? 'Unknown');
    return {
      ...one,
      // How many clusters of the stage may roll at the same time.
      limit: stage === undefined ? 0 : concurrencyOf(stage, one.clusters),
      // One entry for each cluster, sorted by name.
      cells,
      // The reason why clusters have not begun yet: a rule and its sentence.
      waitsFor: one.waiting > 0 || one.state === 'Waiting' ? firstHold(index) : null,
      // The rules that hold individual clusters, with the number of clusters, most frequent first.
      heldBy: [...held]
        .toSorted(([, { length: first }], [, { length: second }]) => second - first)
        .map(([rule, { length }]) => `${rule} ${length}`),
      // The clusters that fail, each with a sentence that says why.
      failures: named('failing').map((key) => {
        const { rollout: progress, hold } = statusOf(key);
        return [key, progress?.failing?.message ?? hold?.message ?? 'its rollout is stalled'] as const;
      }),
      // Returns the names of the clusters that are in a given state.
      named,
    };
  };
  return {
    name,
    // `Complete`, or what the sequence does or waits for, as one word and as a sentence.
    phase: conditions[0]?.reason ?? 'Unknown',
    message: conditions[0]?.message ?? '',
    complete: isTrue(conditions, 'Ready'),
    stalled: isTrue(conditions, 'Stalled'),
    // The first stage that is not complete.
    stage: status.stage ?? null,
    clusters: status.clusters ?? 0,
    upToDate: status.upToDateClusters ?? 0,
    rolling: status.rollingClusters ?? 0,
    failing: status.failingClusters ?? 0,
    stages: shown.map(stageViewOf),
  };
}

function cellOf(
  { failing, completeSince, rolling, waitingSince, wantsTurn }: StagedCluster,
  { rollout }: RolloutStatus,
): CellState {
  if (failing) return 'failing';
  if (completeSince !== null) return 'upToDate';
  if (rolling) return 'rolling';
  if (waitingSince !== null && wantsTurn) return 'waiting';
  return rollout === undefined ? 'notHealthy' : 'held';
}

const indent = 4;
const labelColumns = 'waiting'.length;
/** How many clusters are named in a line. */
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
export function sequenceBlock(view: SequenceView, { columns, rows }: Room, program: string): readonly Line[] {
  const { name, clusters, upToDate, message, stalled, stages } = view;
  const above: readonly Line[] = [
    [piece(name, 'bold'), piece('   '), phasePiece(view), piece(`   ${upToDate} of ${clusters} clusters up to date`)],
    ...wrapped([piece('  ')], message, columns, stalled ? 'red' : 'plain'),
    [],
  ];
  const notes = stages.map((stage) => notesOf(stage, columns, program));
  const cells = stages.flatMap((stage) => stage.cells);
  const [titles = [], ...stageRows] = stageTable(stages);
  const others = above.length + 1 + stageRows.length + notes.flat().length + 1 + legend(cells, 2, columns).length;
  const room = Math.max(1, columns - indent);
  const perCell = clustersPerCell(stages, room, rows === null ? null : rows - others);
  const meaning = legend(cells, perCell, columns);
  const cellRows = (states: readonly CellState[]): readonly Line[] =>
    inGroups(inGroups(states, perCell).map(signOf), room).map((row) => [piece(' '.repeat(indent)), ...joined(row)]);
  return [
    ...above,
    titles,
    ...stages.flatMap((stage, index) => [stageRows[index] ?? [], ...cellRows(stage.cells), ...(notes[index] ?? [])]),
    ...(meaning.length === 0 ? [] : [[], ...meaning]),
  ];
}

function stageTable(stages: readonly StageView[]): readonly Line[] {
  const count = (number: number, style: Style): Piece => piece(String(number), number === 0 ? 'dim' : style);
  return table(
    ['STAGE', 'STATE', 'UP TO DATE', 'ROLLING', 'WAITING', 'FAILING', 'SOAKED UNTIL'],
    stages.map((stage) => [
      line(stage.name, 'bold'),
      line(stage.state, tones[stage.state]),
      line(`${stage.upToDate}/${stage.clusters}`),
      [count(stage.rolling, 'cyan'), piece(` of ${stage.limit}`, 'dim')],
      [count(stage.waiting, 'plain')],
      [count(stage.failing, 'red')],
      line(stage.soakedUntil ?? '-'),
    ]),
    '  ',
  );
}

function notesOf(
  { waitsFor, heldBy, failures, named, state, stoppedBy }: StageView,
  columns: number,
  program: string,
): readonly Line[] {
  const note = (label: string, style: Style, text: string): readonly Line[] =>
    text === ''
      ? []
      : wrapped([piece(' '.repeat(indent)), piece(label.padEnd(labelColumns), style), piece('  ')], text, columns);
  return [
    ...failures.slice(0, mostNamed).flatMap(([key, why]) => note('failing', 'red', `${key}: ${why}`)),
    ...(failures.length > mostNamed ? note('failing', 'red', `and ${failures.length - mostNamed} more`) : []),
    ...failures.slice(0, 1).flatMap(([key]) => {
      const [namespace, cluster] = splitKey(key);
      const one = `${cluster} -n ${namespace}`;
      return note(
        'next',
        'plain',
        `${program} status ${one}; ${program} undo ${one} prints what restores its template`,
      );
    }),
    ...note('rolling', 'cyan', someOf(named('rolling'), mostNamed)),
    ...note('held', 'yellow', heldBy.join(', ')),
    ...note('waiting', 'yellow', waitsFor ?? (state === 'Waiting' ? stopSentence(stoppedBy) : '')),
  ];
}

const stopSentence = (cluster: string | undefined): string =>
  cluster ? `${cluster} is not up to date and healthy` : '';

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
      [phasePiece({ ...view, phase: `${view.phase}: ` }, 'bold'), piece(view.message)],
    ]),
  );
}

const shortly = ({ name, state, upToDate, clusters }: StageView): string => `${name} ${state} ${upToDate}/${clusters}`;

/** A line for each stage, for logs and pipes. */
export function toldOfStages({ name, stages }: SequenceView): readonly Told[] {
  return stages.map((stage) => {
    const { state, upToDate, clusters, rolling, failing, soakedUntil, stoppedBy, waitsFor } = stage;
    const key = `${name}/${stage.name}`;
    const counts = [`${upToDate}/${clusters} up to date`, `${rolling} rolling`, `${failing} failing`];
    const soaks = soakedUntil && `soaked until ${soakedUntil}`;
    const text = [key, state, ...counts, soaks, waitsFor ?? stopSentence(stoppedBy)];
    return { key, text: text.filter(Boolean).join('  ') };
  });
}

/**
 * How many clusters each cell must represent so that the rows of all stages fit. `rows` is `null` if there is no limit.
 */
function clustersPerCell(stages: readonly StageView[], room: number, rows: number | null): number {
  const most = Math.max(1, ...stages.map(({ clusters }) => clusters));
  const rowsOf = (perCell: number): number =>
    stages.reduce((sum, { clusters }) => sum + Math.ceil(Math.ceil(clusters / perCell) / room), 0);
  const mostRows = rows ?? Number.POSITIVE_INFINITY;
  let perCell = 1;
  while (perCell < most && rowsOf(perCell) > mostRows) perCell += 1;
  return perCell;
}

/** The meaning of the symbols, and the number of clusters for each symbol. */
function legend(states: readonly CellState[], perCell: number, columns: number): readonly Line[] {
  const counts = Map.groupBy(states, (state) => state);
  const entries = cellStates.toReversed().flatMap((state): readonly Line[] => {
    const [sign, style, meaning] = looks[state];
    const count = counts.get(state)?.length ?? 0;
    return count === 0 ? [] : [[piece('  '), piece(sign, style), piece(` ${count} ${meaning}`)]];
  });
  const scale = perCell === 1 ? [] : [line(`  each symbol stands for up to ${perCell} clusters`, 'dim')];
  const lines: Line[] = [];
  for (const entry of [...entries, ...scale]) {
    const last = lines.at(-1);
    if (last !== undefined && widthOf([...last, ...entry]) <= columns) lines[lines.length - 1] = [...last, ...entry];
    else lines.push(entry);
  }
  return lines;
}

/** A cell that represents several clusters shows the one that needs attention most. */
function signOf(group: readonly CellState[]): Piece {
  const [sign, style] = looks[cellStates.find((state) => group.includes(state)) ?? 'upToDate'];
  return piece(sign, style);
}

const inGroups = <Item>(all: readonly Item[], size: number): readonly (readonly Item[])[] =>
  Array.from({ length: Math.ceil(all.length / size) }, (_, at) => all.slice(at * size, (at + 1) * size));
