import { exactly, inMilliseconds } from '../program/durations.ts';
import { spreadOf } from '../record/spread.ts';
import type { Table } from '../record/table.ts';
import type { Gaps } from './gaps.ts';
import { type Row, rowTitle } from './matrix.ts';
import type { Measured, Results } from './results.ts';
import { judgedWay, type Way } from './way.ts';

/** One thing that is asked of a rollout. */
interface Question {
  readonly name: string;
  readonly title: string;
  readonly answer: (measured: readonly Measured[], row: Row, way: Way) => string;
  /** The rows that the question applies to; default: all. */
  readonly of?: (row: Row) => boolean;
}

/** A table for each question: a row for each circumstance, a column for each way. */
export function tablesOf(results: Results): readonly Table[] {
  const time: Question = {
    name: 'time',
    title: 'Rollout time / limit: the median ± the run that is furthest from it',
    answer: (measured, row, way) => {
      const waiting = measured.filter(isStuck).length;
      const ratios = withSpread(results.ratios(row, way), (value) => value.toFixed(2));
      return waiting === 0 ? ratios : waiting === measured.length ? 'waits' : `${ratios}, ${waiting} wait`;
    },
  };
  const [first, ...others] = [time, ...questions].map((question) => tableOf(results, question));
  return [withLimits(results, first), gapsTable(results), ...others].filter((table) => table !== undefined);
}

const isStuck = ({ result }: Measured): boolean => result.stuck !== null;
const most = (measured: readonly Measured[], of: (result: Measured['result']) => number): string =>
  String(Math.max(...measured.map(({ result }) => of(result))));
const questions: readonly Question[] = [
  {
    name: 'commits',
    title: 'Seconds in which no commit was answered: the median ± the run that is furthest from it',
    answer: (measured) =>
      measured.some(({ result }) => result.withoutCommits.goesOn)
        ? 'for ever'
        : withSpread(
            measured.map(({ result }) => result.withoutCommits.milliseconds / 1000),
            (value) => value.toFixed(1),
          ),
  },
  {
    name: 'moves',
    title: 'How often the primary moved, at most',
    answer: (measured) => most(measured, ({ moves }) => moves),
  },
  {
    name: 'unavailable',
    title: 'Most members unavailable at once',
    answer: (measured) => most(measured, ({ mostUnavailable }) => mostUnavailable),
  },
  {
    name: 'backup',
    title: 'Members taken while the backup ran, at most',
    answer: (measured) => most(measured, ({ duringBackup }) => duringBackup),
    of: ({ scenario }) => scenario.meanwhile !== undefined,
  },
];

function tableOf(results: Results, { name, title, answer, of = () => true }: Question): Table | undefined {
  const rows = results.rows.filter(of);
  if (rows.length === 0) return undefined;
  return {
    name,
    title,
    columns: ['members × restart', ...results.ways.map((way) => way.title)],
    rows: rows.map((row) => [
      rowTitle(row),
      ...results.ways.map((way) => {
        const measured = row.members < way.leastMembers ? [] : results.of(row, way);
        return measured.length === 0 ? '' : answer(measured, row, way);
      }),
    ]),
  };
}

/** The parts of the judged way's time beyond the limit. */
function gapsTable(results: Results): Table | undefined {
  const judged = results.ways.find(({ slug }) => slug === judgedWay);
  const rows = results.rows.flatMap((row) => {
    const gaps = judged === undefined ? [] : results.of(row, judged).flatMap(({ result }) => result.gaps ?? []);
    const each = (of: (one: Gaps) => readonly number[]): string => {
      const values = gaps.flatMap(of);
      return values.length === 0 ? '' : inMilliseconds(spreadOf(values).median);
    };
    const ofRow = [each(({ first }) => [first]), each(({ moco }) => moco), each(({ reaction }) => reaction)];
    return row.minReadySeconds > 0 || gaps.length === 0 ? [] : [[rowTitle(row), ...ofRow]];
  });
  return rows.length === 0
    ? undefined
    : {
        name: 'gaps',
        title: `What ${judged?.title} takes beyond the limit, medians`,
        columns: ['members × restart', 'to the first member', 'MOCO after each', 'from there to the next'],
        rows,
      };
}

function withLimits(results: Results, table: Table | undefined): Table | undefined {
  if (table === undefined) return undefined;
  const limits = results.rows.map((row) => results.limit(row));
  return {
    ...table,
    columns: table.columns.toSpliced(1, 0, 'limit'),
    rows: table.rows.map((cells, index) => {
      const limit = limits[index] ?? null;
      return cells.toSpliced(1, 0, limit === null ? '' : exactly(limit));
    }),
  };
}

function withSpread(values: readonly number[], show: (value: number) => string): string {
  if (values.length === 0) return '';
  const { lowest, median, highest } = spreadOf(values);
  return values.length === 1 ? show(median) : `${show(median)} ± ${show(Math.max(highest - median, median - lowest))}`;
}
