import { Command } from 'commander';
import { runProgram } from '../../program/run-program.ts';
import { Recording, recordFlag } from '../record/record.ts';
import { spreadOf } from '../record/spread.ts';
import { type Table, textOf } from '../record/table.ts';
import { play, type Result, type Row } from './play.ts';
import { failures, healthy, type Way, ways } from './ways.ts';

// Simulates the same rollout with every method of updating a StatefulSet of MOCO, in virtual time, and compares them
// with the shortest possible time, in which the members restart one after another.

const seeds = ['1', '2', '3'];
/** The limit for the judged method, relative to the shortest possible time. */
const mostRatio = 1.03;
const judged = 'OnDelete';

const rows: readonly Row[] = [
  ...[1, 3, 5, 9].map((members) => ({ scenario: healthy, members, restartSeconds: 10 })),
  { scenario: healthy, members: 3, restartSeconds: 2 },
  ...failures.map((scenario) => ({ scenario, members: 3, restartSeconds: 10 })),
  ...failures.slice(0, 1).map((scenario) => ({ scenario, members: 5, restartSeconds: 10 })),
];

interface Measured {
  readonly row: Row;
  readonly way: Way;
  readonly results: readonly Result[];
}

const command = new Command('hack/bench/rollouts/main.ts').addOption(recordFlag());

await runProgram(command, async ({ record }: { readonly record?: string }) => {
  const recording = new Recording('rollouts');
  const measured: Measured[] = [];
  for (const row of rows) {
    console.log(titleOf(row));
    for (const way of ways.filter(({ leastMembers }) => row.members >= leastMembers)) {
      const results: Result[] = [];
      for (const seed of seeds) results.push(await play(row, way, seed));
      measured.push({ row, way, results });
    }
  }
  const tables = tablesOf(measured);
  for (const table of tables) console.log(`\n${textOf(table)}`);
  const missed = missedOf(measured);
  const raw = measured.map(({ row, way, results }) => ({ row: titleOf(row), way: way.title, results }));
  await recording.write(record, tables, { missed, measured: raw });
  if (missed.length > 0) throw new Error(['Missed:', ...missed].join('\n  '));
});

function titleOf({ scenario, members, restartSeconds }: Row): string {
  return `${scenario.title}: ${members} × ${restartSeconds} s`;
}

/**
 * The shortest possible time: for how many seconds the judged method keeps healthy members unavailable, added up, plus
 * the seconds for which a switchover blocks commits.
 */
function limitOf(measured: readonly Measured[], { members, restartSeconds }: Row): number {
  const one = measured.find(
    ({ row, way }) =>
      way.title === judged &&
      row.scenario === healthy &&
      row.members === members &&
      row.restartSeconds === restartSeconds,
  );
  const limits = (one?.results ?? []).map(
    ({ memberSecondsAway, secondsWithoutCommits }) => memberSecondsAway + (members > 1 ? secondsWithoutCommits : 0),
  );
  return spreadOf(limits).median;
}

function tablesOf(measured: readonly Measured[]): readonly Table[] {
  const table = (
    name: string,
    title: string,
    answer: (results: readonly Result[], limit: number) => string,
    of: (row: Row) => boolean = () => true,
  ): Table => ({
    name,
    title,
    columns: ['members × restart', ...ways.map((way) => way.title)],
    rows: rows.filter(of).map((row) => [
      titleOf(row),
      ...ways.map((way) => {
        const results = measured.find((one) => one.row === row && one.way === way)?.results;
        return results === undefined ? '' : answer(results, limitOf(measured, row));
      }),
    ]),
  });
  const most = (results: readonly Result[], of: (result: Result) => number): string =>
    String(Math.max(...results.map(of)));
  const time = table('time', 'Seconds, and beside the limit: medians', (results, limit) => {
    const { median } = spreadOf(results.map(({ seconds }) => seconds ?? Number.POSITIVE_INFINITY));
    return Number.isFinite(median) ? `${median.toFixed(1)} (${(median / limit).toFixed(2)})` : 'waits';
  });
  const limits = rows.map((row) => limitOf(measured, row).toFixed(1));
  return [
    {
      ...time,
      columns: time.columns.toSpliced(1, 0, 'limit'),
      rows: time.rows.map((cells, index) => cells.toSpliced(1, 0, limits[index] ?? '')),
    },
    table('commits', 'Seconds in which no commit is answered: medians', (results) => {
      const { median } = spreadOf(results.map(({ secondsWithoutCommits }) => secondsWithoutCommits));
      return Number.isFinite(median) ? median.toFixed(1) : 'for ever';
    }),
    table('moves', 'How often the primary moves, at most', (results) => most(results, ({ moves }) => moves)),
    table('unavailable', 'Most members away at once', (results) => most(results, ({ mostAway }) => mostAway)),
    table(
      'backup',
      'Members taken while the backup runs, at most',
      (results) => most(results, ({ duringBackup }) => duringBackup),
      ({ scenario }) => scenario.whenOneGoes !== undefined,
    ),
  ];
}

/** A sentence for each figure in which the judged method misses its limit. */
function missedOf(measured: readonly Measured[]): readonly string[] {
  return measured
    .filter(({ way }) => way.title === judged)
    .flatMap(({ row, results }) => {
      const title = `${judged}, ${titleOf(row)}`;
      const ratio =
        spreadOf(results.map(({ seconds }) => seconds ?? Number.POSITIVE_INFINITY)).median / limitOf(measured, row);
      const isLate = row.scenario === healthy && !(ratio <= mostRatio);
      return [
        ...(isLate ? [`${title}: ${ratio.toFixed(3)} of the limit, at most ${mostRatio} is wanted`] : []),
        ...(results.some(({ moves }) => moves > 1) ? [`${title}: the primary moves more than once`] : []),
        ...(results.some(({ seconds }) => seconds === null) ? [`${title}: waits for a person`] : []),
      ];
    });
}
