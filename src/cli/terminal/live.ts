import { delay } from '../../base/delay.ts';
import type { World } from '../../base/world.ts';
import { timeText } from '../../core/sentences.ts';
import { draw, type Host } from '../host.ts';
import { clipped, type Line, line, painted, piece, withoutPlace } from './lines.ts';

// Shows a view that changes. On a terminal the view is redrawn; elsewhere each change is written as one line.

/** The view is redrawn every second, because it shows ages in seconds. */
const redrawMilliseconds = 1000;
/** Changes within this time are drawn together. */
const gatherMilliseconds = 50;
const interruptedStatus = 130;

/** Watches that keep objects up to date until a signal is aborted. */
export interface Watching {
  /** Resolves once everything has been read. */
  readonly synced: Promise<unknown>;
  readonly ended: Promise<unknown>;
  /** Calls `changed` after each change. */
  readonly subscribe: (changed: () => void) => void;
}

export interface Room {
  readonly columns: number;
  /** `null` if there is no limit. */
  readonly rows: number | null;
}

export type Render<View> = (views: readonly View[], room: Room) => readonly Line[];

/** A text about the thing that `key` identifies. A text that changes is written again. */
export interface Told {
  readonly key: string;
  readonly text: string;
}

export type Display<View> = (views: readonly View[]) => void;

/**
 * On a terminal, redraws one view in place. Otherwise, for logs and pipes, writes one line for each change, with the
 * time in front.
 */
export const displayOf = <View>(
  host: Host,
  lines: Render<View>,
  tell: (view: View) => readonly Told[],
): Display<View> =>
  host.terminal() === null
    ? changeLog(host, tell, () => timeText(Math.floor(host.wall() / 1000)))
    : picture(host, lines);

/**
 * Shows the views after each change, and once a second, until the user interrupts. Resolves to the exit status. Rejects
 * if the source rejects.
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

/** Shortens the lines to the number of rows. If lines are left out, the last row says how many. */
function fitting(lines: readonly Line[], rows: number): readonly Line[] {
  if (lines.length <= rows) return lines;
  const more = `… ${lines.length - rows + 1} more lines: filter the list, or make the terminal higher`;
  return [...lines.slice(0, rows - 1), line(more, 'dim')];
}

export function picture<View>(host: Host, lines: Render<View>): Display<View> {
  let drawn = 0;
  return (views) => {
    const terminal = host.terminal();
    if (terminal === null) return;
    const { columns, rows, colour } = terminal;
    // The last row stays empty for the cursor.
    const shown = fitting(lines(views, { columns, rows: rows - 1 }), rows - 1).map(
      (one) => `${painted(clipped(one, columns), colour)}\u001B[K\n`,
    );
    const up = drawn === 0 ? '' : `\u001B[${drawn}A`;
    drawn = shown.length;
    draw(host, `${up}\r${shown.join('')}\u001B[J`);
  };
}

/**
 * Writes no line if only the place in a queue has changed: with a long queue, the end of each rollout changes the place
 * of every cluster.
 */
export function changeLog<View>(
  host: Pick<Host, 'out'>,
  tell: (view: View) => readonly Told[],
  time: () => string,
): Display<View> {
  const reported = new Map<string, string>();
  return (views) => {
    for (const { key, text } of views.flatMap(tell)) {
      if (reported.get(key) === withoutPlace(text)) continue;
      reported.set(key, withoutPlace(text));
      host.out(`${time()}  ${painted([piece(text)], false)}\n`);
    }
  };
}
