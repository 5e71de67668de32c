import type { EventRate } from './event-rate.ts';
import type { Idle } from './idle.ts';
import type { RuntimeBenchOptions } from './settings.ts';
import { bundle } from './variants.ts';

/** One figure, and what it is to stay below where there is a limit. */
interface Figure {
  readonly what: string;
  readonly value: number;
  readonly unit: string;
  readonly limit?: number;
}

const megabyte = 1_000_000;
const longestDelayMilliseconds = 50;
const mostResidentMegabytes = 150;
const mostIdlePercent = 1;
const longestStatusMilliseconds = 1000;

export function figuresOf(
  { program, runtime }: EventRate,
  idle: readonly Idle[],
  statusAllMilliseconds: readonly number[],
  { events }: RuntimeBenchOptions,
): readonly Figure[] {
  const rate = `${events.perSecond} events/s`;
  const { connections } = program;
  return [
    ...idle.flatMap((one) => idleFigures(one)),
    {
      what: `event loop p99, initial list (fast server)`,
      value: program.listing.duringList.p99,
      unit: 'ms',
      limit: longestDelayMilliseconds,
    },
    { what: `event loop p99, ${rate}`, value: program.eventLoop.p99, unit: 'ms' },
    { what: `event loop max, ${rate}`, value: program.eventLoop.max, unit: 'ms' },
    { what: 'CPU per 1,000 events, the program', value: program.cpuSecondsPerThousand * 1000, unit: 'ms' },
    { what: 'CPU per 1,000 events, the runtime alone', value: runtime.cpuSecondsPerThousand * 1000, unit: 'ms' },
    { what: `resident, ${rate}`, value: program.residentBytes / megabyte, unit: 'MB' },
    { what: 'event sent to start of its pass, p50', value: runtime.latencyMilliseconds.p50, unit: 'ms' },
    { what: 'event sent to start of its pass, p99', value: runtime.latencyMilliseconds.p99, unit: 'ms' },
    {
      what: 'kubectl moco-rollout status -A, median',
      value: statusAllMilliseconds[Math.floor(statusAllMilliseconds.length / 2)] ?? Number.NaN,
      unit: 'ms',
      limit: longestStatusMilliseconds,
    },
    { what: 'calls', value: connections.calls, unit: '' },
    { what: 'connections for them', value: connections.callConnections, unit: '' },
    { what: 'calls per connection', value: connections.calls / connections.callConnections, unit: '' },
    { what: 'watches', value: connections.watches, unit: '' },
    { what: 'connections for them', value: connections.watchConnections, unit: '' },
  ];
}

function idleFigures({ variant, listing, cores, meanResidentBytes, mostResidentBytes }: Idle): readonly Figure[] {
  const limited = variant === bundle.name;
  const figure = (what: string, value: number, unit: string, limit?: number): Figure => ({
    what: `${variant}: ${what}`,
    value,
    unit,
    ...(limited && limit !== undefined && { limit }),
  });
  return [
    figure('start to cache in sync', listing.startSeconds, 's'),
    figure('event loop p99, initial list', listing.duringList.p99, 'ms', longestDelayMilliseconds),
    figure('event loop max, initial list', listing.duringList.max, 'ms'),
    figure('event loop p99, first passes', listing.duringFirstPasses.p99, 'ms'),
    figure('resident, peak', listing.usage.peakBytes / megabyte, 'MB'),
    figure('resident, idle, mean', meanResidentBytes / megabyte, 'MB'),
    figure('resident, idle, most', mostResidentBytes / megabyte, 'MB', mostResidentMegabytes),
    figure('CPU, idle', cores * 100, '% of a core', mostIdlePercent),
  ];
}

export function isMissed({ value, limit }: Figure): boolean {
  return limit !== undefined && !(value < limit);
}

export function tableOf(figures: readonly Figure[]): string {
  const rows = figures.map((figure) => [
    figure.what,
    figure.value.toFixed(figure.unit === '' && Number.isInteger(figure.value) ? 0 : 2),
    figure.unit,
    figure.limit === undefined ? '' : `< ${figure.limit}${isMissed(figure) ? '  missed' : ''}`,
  ]);
  const width = (column: number): number => Math.max(...rows.map((row) => (row[column] ?? '').length));
  return rows
    .map(([what = '', value = '', unit = '', limit = '']) =>
      `${what.padEnd(width(0))}  ${value.padStart(width(1))} ${unit.padEnd(width(2))}  ${limit}`.trimEnd(),
    )
    .join('\n');
}
