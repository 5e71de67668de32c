import { spreadOf } from '../record/spread.ts';
import type { Table } from '../record/table.ts';
import type { AtRest } from './idle.ts';

/** What was measured with so many clusters, as the image runs the program. */
export interface GrownFleet extends AtRest {
  readonly clusters: number;
}

const megabyte = 1_000_000;

interface Curve {
  readonly what: string;
  readonly unit: string;
  readonly digits: number;
  readonly of: (fleet: AtRest) => number;
}

const curves: readonly Curve[] = [
  { what: 'resident, idle, most', unit: 'MB', digits: 0, of: ({ idle }) => Math.max(...residentOf(idle)) / megabyte },
  {
    what: 'resident at its peak',
    unit: 'MB',
    digits: 0,
    of: ({ idle }) => (idle[0]?.listing.usage.peakBytes ?? Number.NaN) / megabyte,
  },
  { what: 'CPU, idle, of a core', unit: '%', digits: 2, of: ({ idle }) => (idle[0]?.cores ?? Number.NaN) * 100 },
  {
    what: 'cold start, to the cache in sync',
    unit: 's',
    digits: 2,
    of: ({ coldStarts }) => spreadOf(coldStarts.map(({ synced }) => synced)).median,
  },
  {
    what: "cold start, to the last cluster's first decision",
    unit: 's',
    digits: 2,
    of: ({ coldStarts }) => spreadOf(coldStarts.map(({ lastDecision }) => lastDecision)).median,
  },
  {
    what: '`status --all-namespaces`',
    unit: 's',
    digits: 2,
    of: ({ statusAllMilliseconds }) => spreadOf(statusAllMilliseconds).median / 1000,
  },
];

/**
 * Each figure with each number of clusters, and the exponent *e* between two neighbours: the figure grows like the
 * number of clusters to the power of *e*.
 */
export function growthTable(fleets: readonly GrownFleet[]): Table {
  const pairs = fleets.slice(1).map((larger, index) => [fleets[index] ?? larger, larger] as const);
  return {
    name: 'growth',
    title: 'How it grows with the fleet, as the image runs it',
    columns: [
      '',
      ...fleets.map(({ clusters }) => `${clusters} clusters`),
      ...pairs.map(([smaller, larger]) => `exponent, ${smaller.clusters} to ${larger.clusters}`),
    ],
    rows: curves.map(({ what, unit, digits, of }) => [
      what,
      ...fleets.map((fleet) => `${of(fleet).toFixed(digits)} ${unit}`),
      ...pairs.map(([smaller, larger]) => exponent(smaller, larger, of).toFixed(2)),
    ]),
  };
}

function exponent(smaller: GrownFleet, larger: GrownFleet, of: Curve['of']): number {
  return Math.log(of(larger) / of(smaller)) / Math.log(larger.clusters / smaller.clusters);
}

const residentOf = (idle: AtRest['idle']): readonly number[] => idle[0]?.residentBytes ?? [Number.NaN];
