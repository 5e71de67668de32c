import { percentile, type Spread, spreadOf } from '../../../hack/bench/record/spread.ts';
import type { Table } from '../../../hack/bench/record/table.ts';
import type { WriterKind } from '../load/write-load.ts';
import { inSeconds, judgedGaps } from './expectations.ts';
import type { Played } from './play.ts';
import { ways } from './way.ts';

const many = 10;

/** A row for each scenario, with all of its runs. */
export function scenarioTable(all: readonly Played[]): Table {
  return {
    name: 'scenarios',
    title: 'Rollouts of real members under load',
    columns: [
      'scenario',
      'seconds',
      '÷ limit',
      'order',
      'away, s',
      'write gaps, kept connections',
      'new connections',
      'rows written',
      'rows lost',
      'passed',
    ],
    rows: [...Map.groupBy(all, ({ slug }) => slug).values()].map((runs) => [
      runs[0]?.title ?? '',
      inWords(
        runs.map(({ seconds }) => seconds),
        0,
      ),
      inWords(
        runs.flatMap(({ seconds, limitSeconds }) => (limitSeconds === null ? [] : [seconds / limitSeconds])),
        2,
      ),
      [...new Set(runs.map(({ order }) => order.join(' ')))].join('; '),
      runs.map(({ awaySeconds }) => awaySeconds.map((one) => one.toFixed(0)).join(' ')).join('; '),
      gapsOf(runs, 'kept'),
      gapsOf(runs, 'fresh'),
      String(sumOf(runs, ({ acknowledged }) => acknowledged)),
      String(sumOf(runs, ({ lost }) => lost)),
      `${runs.filter(({ complaints }) => complaints.length === 0).length} of ${runs.length}`,
    ]),
  };
}

/** Healthy rollouts in each way, all runs of a size together. */
export function wayTable(all: readonly Played[]): Table {
  const { healthy, sizes } = healthyOf(all);
  return {
    name: 'ways',
    title: 'Healthy rollouts under load, by way',
    columns: [
      'way',
      'members',
      'runs',
      'seconds',
      'write gaps, kept connections',
      'longest, s',
      'new connections',
      'longest, s',
      'rows written',
      'rows lost',
    ],
    rows: sizes.flatMap((members) =>
      ways.flatMap(({ slug, title }) => {
        const runs = healthy.filter((one) => one.way === slug && one.members === members);
        if (runs.length === 0) return [];
        return [
          [
            title,
            String(members),
            String(runs.length),
            inWords(
              runs.map(({ seconds }) => seconds),
              0,
            ),
            ...gapCells(runs, 'kept'),
            ...gapCells(runs, 'fresh'),
            String(sumOf(runs, ({ acknowledged }) => acknowledged)),
            String(sumOf(runs, ({ lost }) => lost)),
          ],
        ];
      }),
    ),
  };
}

/** The medians of the same for README, a column for each way; without rows unless every way was played. */
export function shortTable(all: readonly Played[]): Table {
  const { healthy, sizes } = healthyOf(all);
  const columns = ways.toReversed();
  const rows = sizes.flatMap((members) => {
    const runs = columns.map(({ slug }) => healthy.filter((one) => one.way === slug && one.members === members));
    if (runs.some(({ length }) => length === 0)) return [];
    const cell = (some: readonly Played[]): string => {
      const longest = (['kept', 'fresh'] as const).map((kind) => spreadOf(longestGaps(some, kind)).median);
      const seconds = spreadOf(some.map((one) => one.seconds)).median;
      return `${seconds.toFixed(0)}, ${Math.max(...longest).toFixed(1)}, ${sumOf(some, ({ lost }) => lost)}`;
    };
    return [[`${members} members`, ...runs.map(cell)]];
  });
  const title = 'Healthy rollouts under load, medians';
  return {
    name: 'short',
    title,
    columns: ['seconds, without a write, rows lost', ...columns.map((way) => way.title)],
    rows,
  };
}

function healthyOf(all: readonly Played[]): { readonly healthy: readonly Played[]; readonly sizes: readonly number[] } {
  const healthy = all.filter(({ slug }) => /^(healthy|moco|native)-\d+$/.test(slug));
  return { healthy, sizes: [...new Set(healthy.map(({ members }) => members))].toSorted((one, other) => one - other) };
}

/** Of each run, in seconds. */
function longestGaps(runs: readonly Played[], kind: WriterKind): readonly number[] {
  return runs.map(({ gaps }) => Math.max(0, ...gaps[kind].map(({ milliseconds }) => milliseconds)) / 1000);
}

/** How many of a second or more each run has, and the longest ones. */
function gapCells(runs: readonly Played[], kind: WriterKind): readonly string[] {
  const counts = runs.map(({ gaps }) => String(judgedGaps(gaps[kind]).length));
  return [counts.join(', '), inWords(longestGaps(runs, kind), 1)];
}

/** Of each run, separated by semicolons; of many, how long the longest of a run is. */
function gapsOf(runs: readonly Played[], kind: WriterKind): string {
  if (runs.length >= many) {
    const longest = longestGaps(runs, kind);
    return [0.5, 0.9, 1].map((part) => `p${part * 100} ${percentile(longest, part).toFixed(1)} s`).join(', ');
  }
  return runs.map(({ gaps }) => inSeconds(gaps[kind]) || 'none').join('; ');
}

function sumOf(runs: readonly Played[], of: (one: Played) => number): number {
  return runs.reduce((sum, one) => sum + of(one), 0);
}

/** The median, and of several runs the lowest and the highest. */
function inWords(values: readonly number[], digits: number): string {
  if (values.length === 0) return '';
  const { lowest, median, highest }: Spread = spreadOf(values);
  const [low, middle, high] = [lowest, median, highest].map((value) => value.toFixed(digits));
  return values.length === 1 ? `${middle}` : `${middle} (${low} – ${high})`;
}
