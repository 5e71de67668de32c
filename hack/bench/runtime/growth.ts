import { spreadOf } from '../record/spread.ts';
import type { Table } from '../record/table.ts';
import { idleFigures, type Measure } from './figures.ts';
import type { AtRest, Idle } from './idle.ts';

/** The measurements with this number of clusters, for the program as the image runs it. */
export interface GrownFleet extends AtRest {
  readonly clusters: number;
}

/** Adapts a figure to the image's command, which is the only variant measured here. */
const ofImage = ({ of, ...figure }: Measure<Idle>): Measure<AtRest> => ({
  ...figure,
  of: ({ idle: [image] }) => (image === undefined ? Number.NaN : of(image)),
});

const curves: readonly Measure<AtRest>[] = [
  ofImage(idleFigures.resident),
  ofImage(idleFigures.peak),
  ofImage(idleFigures.processor),
  ofImage(idleFigures.scrape),
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
 * Each figure for each number of clusters, and an exponent *e* between adjacent sizes: the figure grows like the number
 * of clusters to the power of *e*.
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

function exponent(smaller: GrownFleet, larger: GrownFleet, of: Measure<AtRest>['of']): number {
  return Math.log(of(larger) / of(smaller)) / Math.log(larger.clusters / smaller.clusters);
}
