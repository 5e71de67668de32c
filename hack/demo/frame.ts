import { type Line, piece, type Style, widthOf } from '../../src/cli/painted.ts';
import { clipped } from './clipped.ts';
import { roughly } from './durations.ts';
import type { MemberScene, Note, Scene } from './scene.ts';
import { type Happening, happeningLine } from './story.ts';

export interface FrameSize {
  readonly columns: number;
  readonly rows: number;
}

/** Narrower than this, the hash of a member's revision gives way to what is said about it. */
const hashColumns = 100;
/** Narrower than this, a note takes two lines. */
const noteColumns = 110;
const widestBarColumns = 30;
const narrowestBarColumns = 5;
const labelColumns = 'last step'.length;
const gap = '   ';
const between = piece(gap);
const margin = piece('  ');
/** The last line stays free: what the shell or the summary writes next begins there. */
const rowsBelow = 1;

/** A frame of exactly what fits; of the happenings, the newest. */
export function frame(scene: Scene, happenings: readonly Happening[], { columns, rows }: FrameSize): readonly Line[] {
  const head = [header(scene, columns), ...noteLines(scene.note, columns), [], ...table(scene.members, columns)];
  const room = rows - rowsBelow - head.length - 1;
  const story = room > 0 && happenings.length > 0 ? happenings.slice(-room).map(happeningLine) : [];
  return [...head, ...(story.length > 0 ? [[]] : []), ...story]
    .slice(0, Math.max(0, rows - rowsBelow))
    .map((line) => clipped(line, columns));
}

function header(scene: Scene, columns: number): Line {
  const { name, phase, complete, updated, total, revision, elapsedMilliseconds } = scene;
  const words: Line = [
    piece(name, 'bold'),
    between,
    piece(phase, complete ? 'green' : 'cyan'),
    between,
    piece(`${updated} of ${total} updated`),
    between,
    piece('revision ', 'dim'),
    piece(revision),
    between,
    piece(roughly(elapsedMilliseconds)),
  ];
  const room = Math.min(widestBarColumns, columns - widthOf(words) - gap.length);
  return room < narrowestBarColumns ? words : [...words, between, ...bar(scene, room)];
}

function bar({ progress, complete }: Scene, columns: number): Line {
  const full = Math.round(progress * columns);
  return [piece('█'.repeat(full), complete ? 'green' : 'cyan'), piece('░'.repeat(columns - full), 'dim')];
}

/** As many lines whatever it says, so that nothing below moves. */
function noteLines({ label, title, sentence, forMilliseconds }: Note, columns: number): readonly Line[] {
  const labelled = piece(label.padEnd(labelColumns), label === 'waiting' ? 'yellow' : 'dim');
  const age = piece(forMilliseconds === null ? '' : `  ${roughly(forMilliseconds)}`, 'dim');
  const indent = piece(' '.repeat(labelColumns));
  if (columns >= noteColumns) {
    return [[margin, labelled, margin, piece(title === '' ? '' : `${title}: `, 'bold'), piece(sentence), age]];
  }
  return title === ''
    ? [[margin, labelled, margin, piece(sentence)], []]
    : [
        [margin, labelled, margin, piece(title, 'bold'), age],
        [margin, indent, margin, piece(sentence)],
      ];
}

function table(members: readonly MemberScene[], columns: number): readonly Line[] {
  const withHash = columns >= hashColumns;
  const rows = members.map((member) => cells(member, withHash));
  const titles = ['MEMBER', 'ROLE', 'REVISION', 'STATE', 'VERDICT'].map((title) => [piece(title, 'dim')]);
  const all = [titles, ...rows];
  const widths = titles.map((_, index) => Math.max(...all.map((row) => widthOf(row[index] ?? [])), smallest(index)));
  return all.map((row) => [
    margin,
    ...row.flatMap((cell, index) => [...cell, piece(' '.repeat((widths[index] ?? 0) - widthOf(cell))), margin]),
  ]);
}

/** The column of states is as wide as its longest word, so that it doesn't breathe. */
function smallest(index: number): number {
  return index === 3 ? 'participating'.length : 0;
}

function cells(member: MemberScene, withHash: boolean): readonly Line[] {
  const { name, role, revision, freshness, state, verdict, tone } = member;
  return [
    [piece(name, 'bold')],
    [piece(role.padEnd('replica'.length), role === 'primary' ? 'magenta' : 'plain')],
    [
      piece(withHash ? `${revision.padEnd(10)}  ` : ''),
      piece(freshness.padEnd('updated'.length), freshness === 'stale' ? 'yellow' : 'green'),
    ],
    [piece(state, stateStyles[state])],
    [piece(verdict, toneStyles[tone])],
  ];
}

const stateStyles: Readonly<Record<MemberScene['state'], Style>> = {
  missing: 'red',
  leaving: 'red',
  starting: 'yellow',
  running: 'yellow',
  participating: 'green',
  impaired: 'yellow',
  down: 'red',
  unreachable: 'red',
};

const toneStyles: Readonly<Record<MemberScene['tone'], Style>> = {
  good: 'green',
  moving: 'cyan',
  next: 'bold',
  waiting: 'dim',
};
