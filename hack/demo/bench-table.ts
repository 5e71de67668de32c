import { type Line, piece } from '../../src/cli/painted.ts';
import { median } from '../bench-record/spread.ts';
import type { RolloutSettings } from './arguments.ts';
import { exactly, inMilliseconds } from './durations.ts';
import { ratioLimit, type Summary } from './summary.ts';
import { jsonOf } from './summary-json.ts';

interface Column {
  readonly title: string;
  /** `null` where a rollout has no such number. */
  readonly of: (summary: Summary) => number | null;
  readonly show: (value: number) => string;
}

const gates = ({ steps }: Summary): readonly number[] =>
  steps.flatMap(({ sinceGate }) => sinceGate?.milliseconds ?? []);
const ready = ({ steps }: Summary): readonly number[] =>
  steps.flatMap(({ sinceReady }) => sinceReady?.milliseconds ?? []);
const orNull = (value: number): number | null => (Number.isFinite(value) ? value : null);

const columns: readonly Column[] = [
  { title: 'ROLLOUT', of: (summary) => summary.rolloutMilliseconds, show: exactly },
  { title: 'PARTS', of: (summary) => summary.partsMilliseconds, show: exactly },
  { title: 'RATIO', of: (summary) => summary.ratio, show: (ratio) => ratio.toFixed(3) },
  { title: 'REACTION p50', of: (summary) => orNull(median(gates(summary))), show: inMilliseconds },
  { title: 'max', of: (summary) => orNull(Math.max(...gates(summary))), show: inMilliseconds },
  { title: 'SINCE READY p50', of: (summary) => orNull(median(ready(summary))), show: inMilliseconds },
  { title: 'max', of: (summary) => orNull(Math.max(...ready(summary))), show: inMilliseconds },
];

/** A row a rollout, then the median of each column with its lowest and highest value. */
export function benchLines(summaries: readonly Summary[]): readonly Line[] {
  const shown = (values: readonly (number | null)[]): readonly string[] =>
    columns.map(({ show }, index) => {
      const value = values[index] ?? null;
      return value === null ? '' : show(value);
    });
  const all = columns.map(({ of }) => summaries.map(of).filter((value) => value !== null));
  const rows = [
    ['RUN', ...columns.map(({ title }) => title)],
    ...summaries.map((summary, index) => [String(index + 1), ...shown(columns.map(({ of }) => of(summary)))]),
    ['median', ...shown(all.map((values) => orNull(median(values))))],
    ['lowest', ...shown(all.map((values) => orNull(Math.min(...values))))],
    ['highest', ...shown(all.map((values) => orNull(Math.max(...values))))],
  ];
  const widths = ['RUN', ...columns].map((_, index) => Math.max(...rows.map((row) => (row[index] ?? '').length)));
  const lines = rows.map((row, at): Line => {
    const style = at === 0 ? 'dim' : at === summaries.length + 1 ? 'bold' : 'plain';
    return row.map((cell, index) => {
      const width = widths[index] ?? 0;
      return piece(`  ${index === 0 ? cell.padEnd(width) : cell.padStart(width)}`, style);
    });
  });
  return [...lines, [], ...legend];
}

const legend: readonly Line[] = [
  'ROLLOUT      from the template change to the last member being back',
  "PARTS        the members' own restarts and one switchover, one after the other",
  `RATIO        the one through the other; at most ${ratioLimit} is wanted`,
  'REACTION     from the write that opened the last gate to the request of the next step',
  "SINCE READY  from a member turning ready to the request of the next step, MOCO's part in it",
].map((text) => [piece(`  ${text}`, 'dim')]);

/** For programs. */
export function benchJson(summaries: readonly Summary[], settings: RolloutSettings) {
  return { runs: summaries.map((summary) => jsonOf(summary, settings)) };
}
