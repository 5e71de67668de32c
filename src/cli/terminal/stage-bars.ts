import type { PlannedStage } from '../../plan/fleet-plan.ts';
import { type Line, type Piece, piece, type Style } from './colour.ts';

/** Bars over fewer columns than this tell nothing. */
const fewestColumns = 20;
const indent = '  ';
const gap = '  ';

interface Sign {
  readonly sign: string;
  readonly style: Style;
}

const waiting: Sign = { sign: '·', style: 'dim' };
const resting: Sign = { sign: '░', style: 'yellow' };
const updating: Sign = { sign: '█', style: 'cyan' };
const over: Sign = { sign: ' ', style: 'plain' };

interface Drawing {
  readonly from: number;
  readonly until: number;
  readonly stages: readonly PlannedStage[];
}

/** A bar over time for each stage. Nothing where a terminal is too narrow, or where there is nothing to draw. */
export function stageBars(
  { from, until, stages }: Drawing,
  labels: readonly string[],
  columns: number,
): readonly Line[] {
  const labelColumns = Math.max(...labels.map(({ length }) => length));
  const room = columns - indent.length - labelColumns - gap.length;
  if (room < fewestColumns || until <= from) return [];
  const seconds = (until - from) / room;
  const bars = stages.map((stage, index): Line => {
    const signs = Array.from({ length: room }, (_, column) =>
      signAt(stage, from + column * seconds, from + (column + 1) * seconds),
    );
    return [piece(`${indent}${(labels[index] ?? '').padEnd(labelColumns)}${gap}`), ...runs(signs)];
  });
  const legend = [
    updating,
    piece(' members are updated   '),
    resting,
    piece(' none is   '),
    waiting,
    piece(' not begun'),
  ];
  const pieces = legend.map((one): Piece => ('sign' in one ? piece(one.sign, one.style) : one));
  return [...bars, [piece(`${indent}${' '.repeat(labelColumns)}${gap}`), ...pieces]];
}

function signAt({ clusters, beginsAt, endsAt }: PlannedStage, from: number, until: number): Sign {
  if (beginsAt === null || until <= beginsAt) return waiting;
  if (endsAt !== null && from >= endsAt) return over;
  const isUpdating = clusters.some(({ spans }) =>
    spans.some((span) => span.what === 'Updating' && span.from < until && span.until > from),
  );
  return isUpdating ? updating : resting;
}

function runs(signs: readonly Sign[]): readonly Piece[] {
  const pieces: Piece[] = [];
  for (const { sign, style } of signs) {
    const last = pieces.at(-1);
    if (last?.style === style) pieces[pieces.length - 1] = { style, text: last.text + sign };
    else pieces.push(piece(sign, style));
  }
  return pieces;
}
