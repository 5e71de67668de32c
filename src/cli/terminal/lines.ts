import { styleText } from 'node:util';
import type { HistoryEntry } from '../../api/rollout-progress.ts';
import type { MemberStatus } from '../../api/rollout-status.ts';
import { milliseconds } from '../../base/json.ts';
import { printable } from '../../base/text.ts';

// Text for a terminal: columns, styles, and short forms of durations and counts.

export type Style = 'plain' | 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan' | 'magenta';

/** A piece of a line. Every character must be one column wide. */
export interface Piece {
  readonly text: string;
  readonly style: Style;
}

export type Line = readonly Piece[];

const ellipsis = '…';

/**
 * Removes control characters: much of the text comes from other programs and people, and must not control the terminal.
 */
export function piece(text: string, style: Style = 'plain'): Piece {
  return { text: printable(text).replaceAll(/[\t\n]+/g, ' '), style };
}

export const line = (text: string, style: Style = 'plain'): Line => [piece(text, style)];

export function widthOf(pieces: Line): number {
  return pieces.reduce((sum, { text }) => sum + text.length, 0);
}

/** Joins adjacent pieces that have the same style. */
export function joined(pieces: Line): Line {
  const runs: Piece[] = [];
  for (const { text, style } of pieces) {
    const last = runs.at(-1);
    if (last?.style === style) runs[runs.length - 1] = { text: last.text + text, style };
    else runs.push({ text, style });
  }
  return runs;
}

/** The line, truncated to `columns` columns. A truncated line ends with an ellipsis. */
export function clipped(pieces: Line, columns: number): Line {
  if (widthOf(pieces) <= columns) return pieces;
  let left = Math.max(0, columns - ellipsis.length);
  const kept: Piece[] = [];
  for (const { text, style } of pieces) {
    const part = text.slice(0, left);
    left -= part.length;
    if (part !== '') kept.push({ text: part, style });
  }
  return [...kept, { text: ellipsis, style: 'dim' }];
}

/** The line as text, coloured or plain, without trailing spaces. */
export function painted(pieces: Line, colour: boolean): string {
  const end = pieces.findLastIndex(({ text }) => text.trimEnd() !== '');
  return pieces
    .slice(0, end + 1)
    .map(({ text, style }, index) => {
      const shown = index === end ? text.trimEnd() : text;
      // The host knows whether the terminal has colours: `styleText` must not check this process's own terminal.
      return colour && style !== 'plain' && shown !== '' ? styleText(style, shown, { validateStream: false }) : shown;
    })
    .join('');
}

const gap = '  ';

/** A table with columns as wide as their widest cell, below dim titles. */
export function table(titles: readonly string[], rows: readonly (readonly Line[])[], indent = ''): readonly Line[] {
  const all = [titles.map((title) => line(title, 'dim')), ...rows];
  const widths = titles.map((_, index) => all.reduce((widest, row) => Math.max(widest, widthOf(row[index] ?? [])), 0));
  return all.map((row) => [
    piece(indent),
    ...row.flatMap((cell, index) => [...cell, piece(' '.repeat((widths[index] ?? 0) - widthOf(cell))), piece(gap)]),
  ]);
}

/** Joins blocks of lines, with an empty line between them. */
export const apart = (blocks: readonly (readonly Line[])[]): readonly Line[] =>
  blocks.flatMap((block, index) => (index === 0 ? block : [[], ...block]));

/** A label and a text. If the text does not fit into the line, it is wrapped and indented by the width of the label. */
export function wrapped(label: Line, text: string, columns: number, style: Style = 'plain'): readonly Line[] {
  const indent = widthOf(label);
  const room = Math.max(shortestRoom, columns - indent);
  const lines: string[] = [];
  for (const word of piece(text).text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= room) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines.map((one, index): Line => [...(index === 0 ? label : [piece(' '.repeat(indent))]), piece(one, style)]);
}

/** The text gets at least this many columns, even if a long label leaves less room. */
const shortestRoom = 20;

const [secondsAMinute, secondsAnHour, secondsADay] = [60, 3600, 86_400] as const;

/** A duration such as `41s`, `1m32s`, `2h05m` or `3d04h`, in about as many characters as kubectl uses. */
export function brief(durationSeconds: number): string {
  const seconds = Math.max(0, Math.round(durationSeconds));
  const two = (number: number): string => String(Math.floor(number)).padStart(2, '0');
  if (seconds < secondsAMinute) return `${seconds}s`;
  if (seconds < secondsAnHour) return `${Math.floor(seconds / secondsAMinute)}m${two(seconds % secondsAMinute)}s`;
  if (seconds < secondsADay)
    return `${Math.floor(seconds / secondsAnHour)}h${two((seconds % secondsAnHour) / secondsAMinute)}m`;
  return `${Math.floor(seconds / secondsADay)}d${two((seconds % secondsADay) / secondsAnHour)}h`;
}

/** A phrase for the end of a line that says how long something has lasted. */
export const forSome = (seconds: number | null): Piece =>
  piece(seconds === null ? '' : `, for ${brief(seconds)}`, 'dim');

export const holdLine = (hold: { rule: string; message: string; forSeconds: number | null }): Line => [
  piece(`${hold.rule}: `, 'bold'),
  piece(hold.message),
  forSome(hold.forSeconds),
];

export const phasePiece = (
  { phase, stalled, complete }: { phase: string; stalled: boolean; complete: boolean },
  otherwise: Style = 'cyan',
): Piece => piece(phase, stalled ? 'red' : complete ? 'green' : otherwise);

/** Seconds from a timestamp to a later time on the same clock; `null` without a timestamp. */
export function secondsSince(timestampMilliseconds: number | null, nowMilliseconds: number): number | null {
  return timestampMilliseconds === null ? null : Math.max(0, (nowMilliseconds - timestampMilliseconds) / 1000);
}

/** How long a rollout took, in seconds. */
export const tookSeconds = ({ startedAt, finishedAt }: Pick<HistoryEntry, 'startedAt' | 'finishedAt'>): number =>
  ((milliseconds(finishedAt) ?? 0) - (milliseconds(startedAt) ?? 0)) / 1000;

/** Lists the first words, and says how many more there are. */
export const someOf = (words: readonly string[], most: number): string =>
  words.slice(0, most).join(', ') + (words.length > most ? ` and ${words.length - most} more` : '');

/** Removes the place in the queue from a sentence. */
export const withoutPlace = (sentence: string): string => sentence.replace(/number \d+ (?=in the queue)/, '');

/**
 * Describes a changed field of a pod template. Values may be missing, because more people see this text than the
 * template.
 */
export const changeInWords = (
  { path, from, to }: { readonly path: string; readonly from?: string; readonly to?: string },
  arrow = '->',
): string => (from === undefined && to === undefined ? path : `${path}: ${from ?? 'none'} ${arrow} ${to ?? 'none'}`);

/** Describes a field that differs, with both values on one line. */
export const differenceInWords = ({
  path,
  before,
  after,
}: Readonly<Record<'before' | 'after', unknown>> & { readonly path: string }): string =>
  `${path}: ${inOneLine(before ?? 'none')} -> ${inOneLine(after ?? 'none')}`;

export const inOneLine = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value));

/** How many transactions a replica lacks. */
export const behind = (replication: MemberStatus['replication'] | null): string =>
  replication
    ? `${replication.notReceived ?? '?'} to receive, ${replication.notApplied} to apply` +
      (replication.problem ? `, ${deafness[replication.problem]}` : '')
    : '-';

const deafness = { NotReceiving: 'receives nothing', NotAcknowledging: 'acknowledges nothing' } as const;
