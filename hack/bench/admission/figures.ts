import { spreadOf } from '../record/spread.ts';
import type { Table } from '../record/table.ts';
import { type WayName, ways } from './ways.ts';

/** The answers to the applies of one round. */
export interface Answers {
  readonly perSecond: number;
  readonly p50Milliseconds: number;
  readonly p99Milliseconds: number;
  /** Processor time of an apply, by process. */
  readonly cpuMilliseconds: Readonly<Record<'API server' | 'moco-controller' | 'moco-rollout', number>>;
}

/** The policy beside its rival, from the same run. */
export interface Figure {
  readonly what: string;
  readonly value: number;
  readonly limit: number;
  readonly bound: 'least' | 'most';
}

type Measured = Readonly<Record<WayName, readonly Answers[]>>;
type Row = readonly [what: string, unit: string, digits: number, of: (answers: Answers) => number];

const rows: readonly Row[] = [
  ['applies a second', '', 0, ({ perSecond }) => perSecond],
  ['latency, p50', ' ms', 1, ({ p50Milliseconds }) => p50Milliseconds],
  ['latency, p99', ' ms', 1, ({ p99Milliseconds }) => p99Milliseconds],
  ['CPU of an apply, API server', ' ms', 2, ({ cpuMilliseconds }) => cpuMilliseconds['API server']],
  ['the same, moco-controller', ' ms', 2, ({ cpuMilliseconds }) => cpuMilliseconds['moco-controller']],
  ['the same, moco-rollout', ' ms', 2, ({ cpuMilliseconds }) => cpuMilliseconds['moco-rollout']],
  ['the same, all of them', ' ms', 2, allOf],
];

function allOf({ cpuMilliseconds }: Answers): number {
  return Object.values(cpuMilliseconds).reduce((sum, milliseconds) => sum + milliseconds, 0);
}

const medianOf = (answers: readonly Answers[], of: (one: Answers) => number): number =>
  spreadOf(answers.map(of)).median;

/** Rounds of the same way differ by up to a tenth. */
const atMost = 1.1;

export function figuresOf({ policy, webhook }: Measured): readonly Figure[] {
  const ratio = (of: (answers: Answers) => number): number => medianOf(policy, of) / medianOf(webhook, of);
  return [
    {
      what: "applies a second, of the webhook's",
      value: ratio(({ perSecond }) => perSecond),
      limit: 1 / atMost,
      bound: 'least',
    },
    {
      what: "latency p50, of the webhook's",
      value: ratio(({ p50Milliseconds }) => p50Milliseconds),
      limit: atMost,
      bound: 'most',
    },
    { what: "CPU of an apply, of the webhook's", value: ratio(allOf), limit: atMost, bound: 'most' },
  ];
}

export const isMissed = ({ value, limit, bound }: Figure): boolean =>
  !(bound === 'least' ? value >= limit : value <= limit);

export function tablesOf(measured: Measured, figures: readonly Figure[]): readonly Table[] {
  return [
    {
      name: 'limits',
      title: 'The policy beside the webhook',
      columns: ['', 'measured', 'limit', ''],
      rows: figures.map((figure) => [
        figure.what,
        `${(figure.value * 100).toFixed(0)} %`,
        `${figure.bound === 'least' ? '≥' : '≤'} ${(figure.limit * 100).toFixed(0)} %`,
        isMissed(figure) ? 'missed' : '',
      ]),
    },
    {
      name: 'applies',
      title: 'MOCO applies a StatefulSet that has not changed: the median of the rounds, and the range',
      columns: ['', ...ways],
      rows: rows.map(([what, unit, digits, of]) => [
        what,
        ...ways.map((way) => {
          const { lowest, median, highest } = spreadOf(measured[way].map(of));
          return `${median.toFixed(digits)}${unit} (${lowest.toFixed(digits)}–${highest.toFixed(digits)})`;
        }),
      ]),
    },
  ];
}
