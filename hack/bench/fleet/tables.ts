import { type Figure, isMissed, limitOf, shown } from '../record/figure.ts';
import { spreadOf } from '../record/spread.ts';
import type { Table } from '../record/table.ts';
import { members } from './clusters.ts';
import { appliesOfMember, type CostOfMember, costOfMember, medianOf, ratioOf } from './figures.ts';
import { type FleetRollout, fairness, rolloutsPerMinute } from './fleet-rollout.ts';
import type { RivalName } from './installation.ts';
import type { MeasuredFleet } from './measured-fleet.ts';
import type { Asker, Requests } from './requests.ts';

// The tables of the fleet benchmark.

const megabyte = 1_000_000;

/** All tables of a run. */
export function tablesOf(fleets: readonly MeasuredFleet[], figures: readonly Figure[]): readonly Table[] {
  return [limits(figures), growth(fleets), costs(fleets), processors(fleets), calls(fleets)];
}

function limits(figures: readonly Figure[]): Table {
  return {
    name: 'limits',
    title: 'What the largest fleet is to reach',
    columns: ['', 'measured', 'limit', ''],
    rows: figures.map((figure) => [figure.what, shown(figure), limitOf(figure), isMissed(figure) ? 'missed' : '']),
  };
}

interface Row {
  readonly what: string;
  readonly of: (fleet: MeasuredFleet) => string;
}

function columnsOf(fleets: readonly MeasuredFleet[]): readonly string[] {
  return ['', ...fleets.map(({ clusters }) => `${clusters} clusters`)];
}

/** The median of several rounds, with the lowest and the highest value. */
function spread(
  rollouts: readonly FleetRollout[],
  figure: (rollout: FleetRollout) => number,
  digits: number,
  unit = '',
): string {
  if (rollouts.length === 0) return '';
  const { lowest, median, highest } = spreadOf(rollouts.map(figure));
  const shown = `${median.toFixed(digits)}${unit}`;
  return rollouts.length < 2 ? shown : `${shown} (${lowest.toFixed(digits)} – ${highest.toFixed(digits)})`;
}

const cost = (figure: keyof CostOfMember) => (rollout: FleetRollout) => costOfMember(rollout)[figure];
const total = ({ cores }: FleetRollout): number => Object.values(cores.of).reduce((sum, one) => sum + one, 0);

/** The processor time of all processes together, for each member. */
const machineMilliseconds = ({ processorSeconds, clusters }: FleetRollout): number =>
  (Object.values(processorSeconds).reduce((sum, one) => sum + one, 0) * 1000) / (clusters * members);

const percent = (ratio: number): string => (Number.isNaN(ratio) ? '' : `${(ratio * 100).toFixed(0)} %`);

type FigureOf = (rollout: FleetRollout) => number;

const row = (what: string, rival: RivalName, figure: FigureOf, digits: number, unit = ''): Row => ({
  what,
  of: (fleet) => spread(fleet.rollouts[rival], figure, digits, unit),
});
/** A row for the controller, then one for the plain loop. */
const both = (what: string, figure: FigureOf, digits: number, unit = ''): readonly Row[] => [
  row(what, 'controller', figure, digits, unit),
  row('the same, plain loop', 'plain loop', figure, digits, unit),
];

const growthRows: readonly Row[] = [
  row('rollouts a minute', 'controller', rolloutsPerMinute, 0),
  row('rollouts a minute, plain loop', 'plain loop', rolloutsPerMinute, 0),
  { what: "the controller's by the plain loop's", of: (fleet) => percent(ratioOf(fleet, 'plain loop')) },
  row("rollouts a minute, MOCO's partitions", "MOCO's partitions", rolloutsPerMinute, 0),
  { what: "the controller's by MOCO's", of: (fleet) => percent(ratioOf(fleet, "MOCO's partitions")) },
  ...both('budgets that stayed closed for two minutes', ({ budgetsStuck }) => budgetsStuck, 0),
  ...both('slowest cluster by the median one', fairness, 2),
  ...both('requests a second, all programs', ({ requestsPerSecond }) => requestsPerSecond, 0),
  ...both('cores in use, all programs', total, 2),
  ...both('processor time a member, all programs', machineMilliseconds, 0, ' ms'),
  ...both('processor time a member, controller', cost('processorMilliseconds'), 1, ' ms'),
  row('calls a member, controller', 'controller', cost('calls'), 1),
  row('writes a member, Events aside', 'controller', cost('writes'), 2),
  row('Events a member', 'controller', cost('events'), 2),
  row('resident afterwards, controller', 'controller', ({ residentBytes }) => residentBytes / megabyte, 0, ' MB'),
  row('resident at its peak, controller', 'controller', ({ peakBytes }) => peakBytes / megabyte, 0, ' MB'),
  row('event-loop delay p99, controller', 'controller', ({ eventLoop }) => eventLoop.p99, 0, ' ms'),
  ...both('StatefulSets that MOCO applies a member', appliesOfMember, 2),
  row("the same, MOCO's partitions", "MOCO's partitions", appliesOfMember, 2),
  { what: 'adopted and complete after', of: ({ takeOverSeconds }) => `${takeOverSeconds.toFixed(0)} s` },
];

/** The cost of each program for one member of the largest fleet. */
function costs(fleets: readonly MeasuredFleet[]): Table {
  const largest = fleets.at(-1)?.rollouts;
  const cost = (what: string, rival: RivalName, asker: Asker, program: string): readonly (readonly string[])[] => {
    const rollouts = largest?.[rival] ?? [];
    return rollouts.length === 0 ? [] : [[what, ...costOf(rollouts, asker, program)]];
  };
  const all = [
    ...cost('controller', 'controller', 'controller', 'controller'),
    ...cost('MOCO beside it', 'controller', 'MOCO', 'moco-controller'),
    ...cost('plain loop', 'plain loop', 'plain loop', 'plain loop'),
    ...cost('MOCO beside it', 'plain loop', 'MOCO', 'moco-controller'),
    ...cost('MOCO, by its partitions', "MOCO's partitions", 'MOCO', 'moco-controller'),
  ];
  return {
    name: 'costs',
    title: 'What a member of the largest fleet costs the API server',
    columns: ['', 'reads', 'writes', 'Events', 'refused', 'kB read', 'CPU'],
    rows: all,
  };
}

function costOf(rollouts: readonly FleetRollout[], asker: Asker, program: string): readonly string[] {
  const member = (figure: (rollout: FleetRollout) => number): number =>
    medianOf(rollouts, (rollout) => figure(rollout) / (rollout.clusters * members));
  const count = (sort: keyof Requests): string => member(({ requests }) => requests[asker][sort]).toFixed(2);
  const milliseconds = member(({ processorSeconds }) => (processorSeconds[program] ?? Number.NaN) * 1000);
  return [
    ...(['reads', 'writes', 'events', 'refused'] as const).map(count),
    asker === 'MOCO' ? '' : member(({ readBytes }) => readBytes / 1000).toFixed(0),
    Number.isNaN(milliseconds) ? '' : `${milliseconds.toFixed(1)} ms`,
  ];
}

function growth(fleets: readonly MeasuredFleet[]): Table {
  return {
    name: 'growth',
    title: 'A fleet rolled out at once; the median of the rounds, and the lowest and the highest',
    columns: columnsOf(fleets),
    rows: growthRows
      .map(({ what, of }) => [what, ...fleets.map(of)])
      .filter((row) => row.slice(1).some((cell) => cell !== '')),
  };
}

function processors(fleets: readonly MeasuredFleet[]): Table {
  const rivals = fleets.flatMap((fleet) =>
    Object.entries(fleet.rollouts)
      .map(([rival, rollouts]) => ({ title: `${fleet.clusters}, ${rival}`, rollouts }))
      .filter(({ rollouts }) => rollouts.length > 0),
  );
  const names = [...new Set(rivals.flatMap(({ rollouts }) => rollouts.flatMap(({ cores }) => Object.keys(cores.of))))];
  const cells = (what: string, figure: FigureOf): readonly string[] => [
    what,
    ...rivals.map(({ rollouts }) => {
      const value = medianOf(rollouts, figure);
      return Number.isFinite(value) ? value.toFixed(2) : '';
    }),
  ];
  return {
    name: 'processors',
    title: 'Cores in use while a fleet is rolled out',
    columns: ['', ...rivals.map(({ title }) => title)],
    rows: [
      ...names.map((name) => cells(name, ({ cores }) => cores.of[name] ?? Number.NaN)),
      cells('everything else on the machine', ({ cores }) => cores.others),
    ],
  };
}

function calls(fleets: readonly MeasuredFleet[]): Table {
  const perMember = fleets.map(({ rollouts }) => {
    const [rollout] = rollouts.controller;
    const all = (rollout?.clusters ?? 0) * members;
    return new Map(Object.entries(rollout?.kinds ?? {}).map(([kind, count]) => [kind, count / all]));
  });
  const kinds = [...new Set(perMember.toReversed().flatMap((one) => [...one.keys()]))];
  return {
    name: 'calls',
    title: "The controller's calls for one member",
    columns: columnsOf(fleets),
    rows: kinds
      .map((kind) => [kind, ...perMember.map((one) => (one.get(kind) ?? 0).toFixed(2))])
      .filter((row) => row.slice(1).some((cell) => cell !== '0.00')),
  };
}
