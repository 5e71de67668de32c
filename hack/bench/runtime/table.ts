import { spreadOf } from '../record/spread.ts';
import type { Table } from '../record/table.ts';
import type { ColdStart } from './cold-start.ts';
import { idleFigures } from './figures.ts';
import type { FleetSize } from './fill.ts';
import type { AtRest, Idle } from './idle.ts';
import type { Reconnect } from './reconnect.ts';
import { bundle } from './variants.ts';

type FleetOfTable = Pick<FleetSize, 'clusters'>;

export interface Findings {
  readonly tables: readonly Table[];
  /** What is not below its limit. */
  readonly missed: readonly string[];
}

/** What to stay below, in the unit of the figure. */
interface Bounded {
  readonly what: string;
  readonly unit: string;
  readonly digits: number;
  readonly limit?: number;
}

const longestDelayMilliseconds = 50;
const mostIdlePercent = 1;
const largeFleet = 1000;

/** What grows with the fleet. */
const limitsOf = (clusters: number) =>
  clusters <= largeFleet
    ? { residentMegabytes: 150, statusMilliseconds: 1000, coldStartSeconds: 5 }
    : { residentMegabytes: 350, statusMilliseconds: 2000, coldStartSeconds: 15 };

/** Figures against their limits, collected while the tables are built. */
class Limits {
  readonly missed: string[] = [];

  /** The figure with its unit, and whether it is not below its limit. */
  cell({ what, unit, digits, limit }: Bounded, value: number): string {
    const text = `${value.toFixed(digits)} ${unit}`.trim();
    if (limit === undefined || value < limit) return text;
    this.missed.push(`${what}: ${text} instead of less than ${limit} ${unit}`);
    return `${text} (missed)`;
  }
}

const limitOf = ({ limit, unit }: Bounded): string => (limit === undefined ? '' : `< ${limit} ${unit}`);

/** Everything that was measured, as tables. */
export function findingsOf(atRest: AtRest, options: FleetOfTable): Findings {
  const limits = new Limits();
  const tables = [
    idleTable(atRest.idle, options, limits),
    coldStartTable(atRest.coldStarts, options, limits),
    statusTable(atRest.statusAllMilliseconds, options, limits),
    reconnectTable(atRest.reconnect, limits),
  ];
  return { tables, missed: limits.missed };
}

type IdleRow = Bounded & { readonly of: (idle: Idle) => number };

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

/** Limits are those of what the image runs. */
function idleTable(idle: readonly Idle[], { clusters }: FleetOfTable, limits: Limits): Table {
  return {
    name: 'idle',
    title: `${clusters} clusters with nothing to do`,
    columns: ['', ...idle.map(({ variant }) => variant), `limit for "${bundle.name}"`],
    rows: idleRows(clusters).map(({ of, ...row }) => [
      row.what,
      ...idle.map((one) => limits.cell(one.variant === bundle.name ? row : withoutLimit(row), of(one))),
      limitOf(row),
    ]),
  };
}

const withoutLimit = ({ limit: _, ...row }: Bounded): Bounded => row;

function coldStartTable(starts: readonly ColdStart[], { clusters }: FleetOfTable, limits: Limits): Table {
  const { coldStartSeconds } = limitsOf(clusters);
  const row = (what: string, of: (start: ColdStart) => number, limit?: number): readonly string[] => {
    const bounded = { what, unit: 's', digits: 2, ...(limit !== undefined && { limit }) };
    const { lowest, median, highest } = spreadOf(starts.map(of));
    const plain = withoutLimit(bounded);
    return [
      what,
      limits.cell(plain, median),
      limits.cell(plain, lowest),
      limits.cell(bounded, highest),
      limitOf(bounded),
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

function statusTable(milliseconds: readonly number[], { clusters }: FleetOfTable, limits: Limits): Table {
  const limit = limitsOf(clusters).statusMilliseconds;
  const bounded = { what: `of ${clusters} clusters`, unit: 'ms', digits: 0, limit };
  return {
    name: 'status',
    title: '`kubectl moco-rollout status --all-namespaces`, start-up included',
    columns: ['', `median of ${milliseconds.length}`, 'limit'],
    rows: [[bounded.what, limits.cell(bounded, spreadOf(milliseconds).median), limitOf(bounded)]],
  };
}

function reconnectTable({ duringReconnect, connections }: Reconnect, limits: Limits): Table {
  const row = (what: string, value: number, limit?: number): readonly string[] => {
    const bounded = { what, unit: 'ms', digits: 0, ...(limit !== undefined && { limit }) };
    return [what, limits.cell(bounded, value), limitOf(bounded)];
  };
  return {
    name: 'reconnect',
    title: `The event loop while all ${connections} connections are cut and every watch reconnects`,
    columns: ['', 'measured', 'limit'],
    rows: [row('delay, p99', duringReconnect.p99, longestDelayMilliseconds), row('the longest', duringReconnect.max)],
  };
}
