import { delay } from '../../kube/delay.ts';
import type { World } from '../../kube/world.ts';
import type { Host } from '../host.ts';
import { clipped, type Line, line, painted, piece } from './colour.ts';
import type { ClusterView } from './view.ts';

/** Ages are shown in seconds. */
const redrawMilliseconds = 1000;
/** Changes within this time are drawn together. */
const gatherMilliseconds = 50;

/** Clusters, or sequences of them, as they are now. */
export interface LiveSource<View> {
  readonly views: () => readonly View[];
  /** Calls back after each change. */
  readonly subscribe: (changed: () => void) => void;
}

/** An output that shows views repeatedly. */
export interface Display<View = ClusterView> {
  show(views: readonly View[]): void;
}

/** Shows the views after each change, and once a second, until the signal is aborted. */
export async function showLive<View>(
  { views, subscribe }: LiveSource<View>,
  display: Display<View>,
  world: World,
  signal: AbortSignal,
): Promise<void> {
  let change = new AbortController();
  subscribe(() => change.abort());
  while (!signal.aborted) {
    change = new AbortController();
    display.show(views());
    await delay(world, redrawMilliseconds, AbortSignal.any([signal, change.signal]));
    await delay(world, gatherMilliseconds, signal);
  }
}

/** The room for a picture. */
export interface Room {
  readonly columns: number;
  /** `null` if there is no limit. */
  readonly rows: number | null;
}

/** Draws views as lines. */
export type Render<View> = (views: readonly View[], room: Room) => readonly Line[];

/** As many lines as there are rows. The last one tells how many are left out. */
function fitting(lines: readonly Line[], rows: number): readonly Line[] {
  if (lines.length <= rows) return lines;
  const left = lines.length - rows + 1;
  return [
    ...lines.slice(0, rows - 1),
    line(`… ${left} more lines: filter the list, or make the terminal higher`, 'dim'),
  ];
}

/** A view on a terminal that is redrawn in place. */
export class Picture<View = ClusterView> implements Display<View> {
  readonly #host: Host;
  readonly #lines: Render<View>;
  #rows = 0;

  constructor(host: Host, lines: Render<View>) {
    this.#host = host;
    this.#lines = lines;
  }

  show(views: readonly View[]): void {
    const terminal = this.#host.terminal();
    if (terminal === null) return;
    const { columns, rows, colour } = terminal;
    // The last row stays free for the cursor.
    const shown = fitting(this.#lines(views, { columns, rows: rows - 1 }), rows - 1).map(
      (one) => `${painted(clipped(one, columns), colour)}\u001B[K\n`,
    );
    const up = this.#rows === 0 ? '' : `\u001B[${this.#rows}A`;
    this.#rows = shown.length;
    this.#host.out(`${up}\r${shown.join('')}\u001B[J`);
  }
}

/** One thing that can change, and what is said of it. */
export interface Told {
  readonly key: string;
  readonly text: string;
}

/** A line of text for each change, for logs and pipes. */
export class ChangeLog<View = ClusterView> implements Display<View> {
  readonly #host: Host;
  readonly #tell: (view: View) => readonly Told[];
  readonly #reported = new Map<string, string>();

  constructor(host: Host, tell: (view: View) => readonly Told[]) {
    this.#host = host;
    this.#tell = tell;
  }

  show(views: readonly View[]): void {
    for (const { key, text } of views.flatMap((view) => this.#tell(view))) {
      if (this.#reported.get(key) === text) continue;
      this.#reported.set(key, text);
      this.#host.out(`${painted([piece(text)], false)}\n`);
    }
  }
}

/** A cluster on one line, without ages. */
export function toldOfCluster({
  namespace,
  name,
  phase,
  updated,
  replicas,
  hold,
  notes,
  members,
}: ClusterView): readonly Told[] {
  const key = `${namespace}/${name}`;
  const waits = hold === null ? (notes[0] ?? '') : `${hold.rule}: ${hold.message}`;
  const verdicts = members.map(({ ordinal, state, verdict }) => `${ordinal} ${state} ${verdict}`).join(', ');
  const text = [key, phase, `${updated}/${replicas}`, waits, verdicts && `(${verdicts})`].filter(Boolean).join('  ');
  return [{ key, text }];
}
