import { type Line, piece, type Style } from '../../src/cli/painted.ts';
import { exactly, inMilliseconds } from './durations.ts';
import { lasted, type Measure } from './measure.ts';
import type { Reaction, Verb } from './reaction.ts';

/** The ratio that a rollout of members of 2 s has to keep. */
export const ratioLimit = 1.15;

/** What became of one rollout, in numbers. */
export interface Summary {
  readonly rolloutMilliseconds: number;
  /** In the order in which they were done, switchovers among them. */
  readonly steps: readonly SummaryStep[];
  readonly switchovers: readonly { readonly from: string; readonly to: string; readonly milliseconds: number }[];
  /** The sum of the members' own restarts and the switchovers. */
  readonly partsMilliseconds: number;
  readonly ratio: number;
}

export interface SummaryStep {
  readonly verb: Verb;
  readonly member: string;
  /** How long the member was away, or the switchover took. */
  readonly milliseconds: number;
  /** From the last gate that opened before it. */
  readonly sinceGate: { readonly gate: string; readonly milliseconds: number } | null;
  /** From the last member that turned ready before it; MOCO's own time until it says Healthy is in it. */
  readonly sinceReady: { readonly member: string; readonly milliseconds: number } | null;
}

/** Of a rollout that is over. Throws where what was seen and what the API server recorded don't agree. */
export function summaryOf(measure: Measure, reactions: readonly Reaction[], stem: string): Summary {
  const switchovers = measure.switchovers.map(({ from, to, ...move }) => ({
    from: `${stem}-${from}`,
    to: `${stem}-${to}`,
    milliseconds: lasted(move) ?? Number.NaN,
  }));
  const away = measure.absences.map((absence) => lasted(absence) ?? Number.NaN);
  const partsMilliseconds = sum([...away, ...switchovers.map(({ milliseconds }) => milliseconds)]);
  const end = Math.max(...measure.absences.map(({ toMilliseconds }) => toMilliseconds ?? Number.NaN));
  const rolloutMilliseconds = end - measure.beganMilliseconds;
  return {
    rolloutMilliseconds,
    steps: reactions.map((reaction) => summaryStep(reaction, measure, stem)),
    switchovers,
    partsMilliseconds,
    ratio: rolloutMilliseconds / partsMilliseconds,
  };
}

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0);

function summaryStep(reaction: Reaction, { absences, switchovers }: Measure, stem: string): SummaryStep {
  const { verb, pod, opening, sinceOpeningMilliseconds, ready, sinceReadyMilliseconds } = reaction;
  const effect =
    verb === 'demote'
      ? switchovers.find(({ from }) => `${stem}-${from}` === pod)
      : absences.find(({ name }) => name === pod);
  const milliseconds = effect === undefined ? null : lasted(effect);
  if (milliseconds === null) {
    throw new Error(`Expected the watches to have shown what \`${verb}\` did to ${pod}, they have not`);
  }
  return {
    verb,
    member: pod,
    milliseconds,
    sinceGate: opening && { gate: opening.gate, milliseconds: sinceOpeningMilliseconds ?? Number.NaN },
    sinceReady: ready && { member: ready.readyPod ?? '', milliseconds: sinceReadyMilliseconds ?? Number.NaN },
  };
}

/** The longest ones; `null` where there is none. */
export function longestReactions({ steps }: Pick<Summary, 'steps'>): {
  readonly sinceGateMilliseconds: number | null;
  readonly sinceReadyMilliseconds: number | null;
} {
  const longest = (numbers: readonly number[]): number | null => (numbers.length === 0 ? null : Math.max(...numbers));
  return {
    sinceGateMilliseconds: longest(steps.flatMap(({ sinceGate }) => sinceGate?.milliseconds ?? [])),
    sinceReadyMilliseconds: longest(steps.flatMap(({ sinceReady }) => sinceReady?.milliseconds ?? [])),
  };
}

/** As the demo closes with it. */
export function summaryLines(summary: Summary): readonly Line[] {
  return [...stepTable(summary), [], ...numberLines(summary)];
}

const margin = piece('  ');

function stepTable({ steps }: Summary): readonly Line[] {
  const rows = steps.map(({ verb, member, milliseconds, sinceGate, sinceReady }, index) => [
    String(index + 1),
    member,
    verb,
    exactly(milliseconds),
    sinceGate === null ? '' : `${inMilliseconds(sinceGate.milliseconds)} after ${sinceGate.gate}`,
    sinceReady === null ? '' : inMilliseconds(sinceReady.milliseconds),
  ]);
  const titles = ['ORDER', 'MEMBER', 'BY', 'TOOK', 'LAST GATE', 'SINCE READY'];
  const widths = titles.map((title, index) =>
    Math.max(...[titles, ...rows].map((row) => (row[index] ?? title).length)),
  );
  const line = (row: readonly string[], style: Style): Line =>
    row.flatMap((cell, index) => [margin, piece(cell.padEnd(widths[index] ?? 0), style)]);
  return [line(titles, 'dim'), ...rows.map((row) => line(row, 'plain'))];
}

function numberLines(summary: Summary): readonly Line[] {
  const { rolloutMilliseconds, steps, switchovers, partsMilliseconds, ratio } = summary;
  const { sinceGateMilliseconds, sinceReadyMilliseconds } = longestReactions(summary);
  const restarts = steps.filter(({ verb }) => verb !== 'demote').map(({ milliseconds }) => milliseconds);
  const within = ratio <= ratioLimit;
  const rollout = exactly(rolloutMilliseconds);
  const parts = exactly(partsMilliseconds);
  const moves = switchovers.map(({ milliseconds }) => `${exactly(milliseconds)} of switchover`);
  return [
    number('rollout', rollout, 'from the template change to the last member back'),
    number('its parts', parts, [...restarts.map(exactly), ...moves].join(' + ')),
    number(
      'ratio',
      ratio.toFixed(3),
      `${rollout} / ${parts}, ${within ? 'within' : 'above'} ${ratioLimit}`,
      within ? 'green' : 'yellow',
    ),
    number(
      'caused',
      `${switchovers.length} ${switchovers.length === 1 ? 'switchover' : 'switchovers'}`,
      switchovers.map(({ from, to }) => `from ${from} to ${to}`).join(', '),
    ),
    ...(sinceGateMilliseconds === null
      ? []
      : [number('reaction', inMilliseconds(sinceGateMilliseconds), 'at most, from the last gate opening to the step')]),
    ...(sinceReadyMilliseconds === null
      ? []
      : [number('', inMilliseconds(sinceReadyMilliseconds), "at most, from Ready to the step, MOCO's part in it")]),
  ];
}

const labelColumns = 'its parts'.length;
const valueColumns = '1 switchover'.length;

function number(label: string, value: string, words: string, style: Style = 'bold'): Line {
  const columns = [piece(label.padEnd(labelColumns), 'dim'), piece(value.padEnd(valueColumns), style), piece(words)];
  return columns.flatMap((column) => [margin, column]);
}
