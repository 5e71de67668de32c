import type { PlannedStage } from '../../plan/fleet-plan.ts';
import { joined, type Line, type Piece, piece } from './colour.ts';

/** Bars over fewer columns than this tell nothing. */
const fewestColumns = 20;
const indent = '  ';
const gap = '  ';

const waiting = piece('·', 'dim');
const resting = piece('░', 'yellow');
const updating = piece('█', 'cyan');
const over = piece(' ');

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
    return [piece(`${indent}${(labels[index] ?? '').padEnd(labelColumns)}${gap}`), ...joined(signs)];
  });
  const legend = [
    updating,
    piece(' members are updated   '),
    resting,
    piece(' none is   '),
    waiting,
    piece(' not begun'),
  ];
  return [...bars, [piece(`${indent}${' '.repeat(labelColumns)}${gap}`), ...legend]];
}

function signAt({ clusters, beginsAt, endsAt }: PlannedStage, from: number, until: number): Piece {
  if (beginsAt === null || until <= beginsAt) return waiting;
  if (endsAt !== null && from >= endsAt) return over;
  const isUpdating = clusters.some(({ spans }) =>
    spans.some((span) => span.what === 'Updating' && span.from < until && span.until > from),
  );
  return isUpdating ? updating : resting;
}
