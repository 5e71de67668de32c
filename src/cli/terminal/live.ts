import { delay } from '../../base/delay.ts';
import type { World } from '../../base/world.ts';
import { timeText } from '../../core/sentences.ts';
import { draw, type Host } from '../host.ts';
import { clipped, type Line, line, painted, piece, withoutPlace } from './lines.ts';

// Shows a view that changes: redrawn on a terminal, one line for each change elsewhere.

/** Ages are shown in seconds. */
const redrawMilliseconds = 1000;
/** Changes within this time are drawn together. */
const gatherMilliseconds = 50;
const interruptedStatus = 130;

/** Watches that keep something up to date until a signal is aborted. */
export interface Watching {
  /** Called once everything has been read. */
  readonly synced: Promise<unknown>;
  readonly ended: Promise<unknown>;
  /** Calls back after each change. */
  readonly subscribe: (changed: () => void) => void;
}

export interface Room {
  readonly columns: number;
  /** `null` if there is no limit. */
  readonly rows: number | null;
}

export type Render<View> = (views: readonly View[], room: Room) => readonly Line[];

/** One thing that can change, and how it is shown. */
export interface Told {
  readonly key: string;
  readonly text: string;
}

export type Display<View> = (views: readonly View[]) => void;

/**
 * On a terminal, a single view that is redrawn in place; otherwise one line with the time for each change, for logs and
 * pipes.
 */
export const displayOf = <View>(
  host: Host,
  lines: Render<View>,
  tell: (view: View) => readonly Told[],
): Display<View> => (host.terminal() === null ? changeLog(host, tell) : picture(host, lines));

/**
 * Shows the views after each change, and once a second, until the user interrupts. Resolves to the exit status. Rejects
 * as the source does.
 */
export async function showLive<View>(
  { host, world }: { readonly host: Host; readonly world: World },
  sourceOf: (signal: AbortSignal) => Watching & { readonly views: () => readonly View[] },
  lines: Render<View>,
  tell: (view: View) => readonly Told[],
): Promise<number> {
  const stop = new AbortController();
  const unhook = host.onInterrupt(() => stop.abort());
  try {
    const { views, subscribe, synced, ended } = sourceOf(stop.signal);
    await synced;
    const show = displayOf(host, lines, tell);
    let change = new AbortController();
    subscribe(() => change.abort());
    while (!stop.signal.aborted) {
      change = new AbortController();
      show(views());
      await delay(world, redrawMilliseconds, AbortSignal.any([stop.signal, change.signal]));
      await delay(world, gatherMilliseconds, stop.signal);
    }
    await ended;
  } finally {
    unhook();
    stop.abort();
  }
  return interruptedStatus;
}

/** At most as many lines as there are rows. The last one shows how many are left out. */
function fitting(lines: readonly Line[], rows: number): readonly Line[] {
  if (lines.length <= rows) return lines;
  const more = `… ${lines.length - rows + 1} more lines: filter the list, or make the terminal higher`;
  return [...lines.slice(0, rows - 1), line(more, 'dim')];
}

function picture<View>(host: Host, lines: Render<View>): Display<View> {
  let drawn = 0;
  return (views) => {
    const terminal = host.terminal();
    if (terminal === null) return;
    const { columns, rows, colour } = terminal;
    // The last row stays free for the cursor.
    const shown = fitting(lines(views, { columns, rows: rows - 1 }), rows - 1).map(
      (one) => `${painted(clipped(one, columns), colour)}\u001B[K\n`,
    );
    const up = drawn === 0 ? '' : `\u001B[${drawn}A`;
    drawn = shown.length;
    draw(host, `${up}\r${shown.join('')}\u001B[J`);
  };
}

/** A new place in a queue is not shown by itself: with a long queue the end of each rollout would change every line. */
function changeLog<View>(host: Host, tell: (view: View) => readonly Told[]): Display<View> {
  const reported = new Map<string, string>();
  return (views) => {
    for (const { key, text } of views.flatMap(tell)) {
      if (reported.get(key) === withoutPlace(text)) continue;
      reported.set(key, withoutPlace(text));
      host.out(`${timeText(Math.floor(host.wall() / 1000))}  ${painted([piece(text)], false)}\n`);
    }
  };
}
