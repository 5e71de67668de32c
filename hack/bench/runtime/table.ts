import { type Figure, isMissed, limitOf, shown } from '../record/figure.ts';
import { spreadOf } from '../record/spread.ts';
import type { Table } from '../record/table.ts';
import type { ColdStart } from './cold-start.ts';
import { idleFigures, type Measure } from './figures.ts';
import type { AtRest, Idle } from './idle.ts';
import type { Reconnect } from './reconnect.ts';
import { bundle } from './variants.ts';

// The tables of the runtime benchmark.

export interface Findings {
  readonly tables: readonly Table[];
  /** Figures that are not within their limit. */
  readonly missed: readonly string[];
}

/** A table before its figures are formatted. At most one kind of figure in a row has a limit. */
interface Sheet extends Omit<Table, 'rows'> {
  readonly rows: readonly (readonly Figure[])[];
}

const longestDelayMilliseconds = 50;
const mostIdlePercent = 1;
const largeFleet = 1000;

/** The limits for figures that grow with the fleet. */
const limitsOf = (clusters: number) =>
  clusters <= largeFleet
    ? { residentMegabytes: 150, statusMilliseconds: 1000, coldStartSeconds: 5 }
    : { residentMegabytes: 350, statusMilliseconds: 2000, coldStartSeconds: 15 };

/** Everything that was measured, as tables. */
export function findingsOf(atRest: AtRest, clusters: number): Findings {
  const sheets = [
    idle(atRest.idle, clusters),
    coldStart(atRest.coldStarts, clusters),
    status(atRest.statusAllMilliseconds, clusters),
    reconnect(atRest.reconnect),
  ];
  const missed = sheets.flatMap(({ rows }) => rows.flat()).filter(isMissed);
  return {
    tables: sheets.map(tableOf),
    missed: missed.map((one) => `${one.what}: ${shown(one)} instead of ${limitOf(one)}`),
  };
}

function tableOf({ rows, ...rest }: Sheet): Table {
  const cell = (figure: Figure): string => `${shown(figure)}${isMissed(figure) ? ' (missed)' : ''}`;
  const limit = (figures: readonly Figure[]): string => figures.map(limitOf).find((one) => one !== '') ?? '';
  return {
    ...rest,
    rows: rows.map((figures) => [figures[0]?.what ?? '', ...figures.map(cell), limit(figures)]),
  };
}

type IdleRow = Measure<Idle> & { readonly limit?: number };

const idleRows = (clusters: number): readonly IdleRow[] => [
  idleFigures.peak,
  { ...idleFigures.resident, limit: limitsOf(clusters).residentMegabytes },
  { ...idleFigures.processor, limit: mostIdlePercent },
  {
    what: 'event-loop delay during the initial list, p99',
    unit: 'ms',
    digits: 0,
    limit: longestDelayMilliseconds,
    of: ({ listing }) => listing.duringList.p99,
  },
  { what: 'the longest', unit: 'ms', digits: 0, of: ({ listing }) => listing.duringList.max },
  {
    what: 'event-loop delay during the first passes, p99',
    unit: 'ms',
    digits: 0,
    of: ({ listing }) => listing.duringFirstPasses.p99,
  },
  idleFigures.scrape,
];

/** Limits apply only to the command that the image runs. */
const idle = (variants: readonly Idle[], clusters: number): Sheet => ({
  name: 'idle',
  title: `${clusters} clusters with nothing to do`,
  columns: ['', ...variants.map(({ variant }) => variant), `limit for "${bundle.name}"`],
  rows: idleRows(clusters).map(({ of, limit, ...row }) =>
    variants.map((one) => ({ ...row, value: of(one), limit: one.variant === bundle.name ? limit : undefined })),
  ),
});

function coldStart(starts: readonly ColdStart[], clusters: number): Sheet {
  const { coldStartSeconds } = limitsOf(clusters);
  const row = (what: string, of: (start: ColdStart) => number, limit?: number): readonly Figure[] => {
    const { lowest, median, highest } = spreadOf(starts.map(of));
    const plain = { what, unit: 's', digits: 2 };
    return [
      { ...plain, value: median },
      { ...plain, value: lowest },
      { ...plain, value: highest, limit },
    ];
  };
  return {
    name: 'cold-start',
    title: `From the start of the process, with ${clusters} clusters whose MySQLRollouts exist, ${starts.length} times`,
    columns: ['', 'median', 'shortest', 'longest', 'limit'],
    rows: [
      row('to the cache in sync', ({ synced }) => synced),
      row('to the first decision', ({ firstDecision }) => firstDecision, coldStartSeconds),
      row("to the last cluster's first decision", ({ lastDecision }) => lastDecision, coldStartSeconds),
    ],
  };
}

function status(milliseconds: readonly number[], clusters: number): Sheet {
  const what = `of ${clusters} clusters`;
  const limit = limitsOf(clusters).statusMilliseconds;
  return {
    name: 'status',
    title: '`kubectl moco-rollout status --all-namespaces`, start-up included',
    columns: ['', `median of ${milliseconds.length}`, 'limit'],
    rows: [[{ what, value: spreadOf(milliseconds).median, unit: 'ms', digits: 0, limit }]],
  };
}

const reconnect = ({ duringReconnect: { p99, max }, connections }: Reconnect): Sheet => ({
  name: 'reconnect',
  title: `The event loop while all ${connections} connections are cut and every watch reconnects`,
  columns: ['', 'measured', 'limit'],
  rows: [
    [{ what: 'delay, p99', value: p99, unit: 'ms', digits: 0, limit: longestDelayMilliseconds }],
    [{ what: 'the longest', value: max, unit: 'ms', digits: 0 }],
  ],
});
