import { delay } from '../../kube/delay.ts';
import type { World } from '../../kube/world.ts';
import type { Host } from '../host.ts';
import { clipped, type Line, painted, piece } from './colour.ts';
import type { ClusterView } from './view.ts';

/** Ages are shown in seconds. */
const redrawMilliseconds = 1000;
/** Changes within this time are drawn together. */
const gatherMilliseconds = 50;

/** The clusters as they are now. */
export interface LiveSource {
  readonly views: () => readonly ClusterView[];
  /** Calls back after each change. */
  readonly subscribe: (changed: () => void) => void;
}

/** An output that shows clusters repeatedly. */
export interface Display {
  show(views: readonly ClusterView[]): void;
}

/** Shows the clusters after each change, and once a second, until the signal is aborted. */
export async function showLive(
  { views, subscribe }: LiveSource,
  display: Display,
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

/** A view on a terminal that is redrawn in place. */
export class Picture implements Display {
  readonly #host: Host;
  readonly #lines: (views: readonly ClusterView[]) => readonly Line[];
  #rows = 0;

  /** `lines` renders the clusters. */
  constructor(host: Host, lines: (views: readonly ClusterView[]) => readonly Line[]) {
    this.#host = host;
    this.#lines = lines;
  }

  show(views: readonly ClusterView[]): void {
    const terminal = this.#host.terminal();
    if (terminal === null) return;
    const { columns, rows, colour } = terminal;
    // The last row stays free for the cursor.
    const shown = this.#lines(views)
      .slice(0, rows - 1)
      .map((line) => `${painted(clipped(line, columns), colour)}\u001B[K\n`);
    const up = this.#rows === 0 ? '' : `\u001B[${this.#rows}A`;
    this.#rows = shown.length;
    this.#host.out(`${up}\r${shown.join('')}\u001B[J`);
  }
}

/** A line of text for each change of a cluster, for logs and pipes. */
export class ChangeLog implements Display {
  readonly #host: Host;
  readonly #reported = new Map<string, string>();

  constructor(host: Host) {
    this.#host = host;
  }

  show(views: readonly ClusterView[]): void {
    for (const { namespace, name, phase, updated, replicas, hold, notes, members } of views) {
      const key = `${namespace}/${name}`;
      const waits = hold === null ? (notes[0] ?? '') : `${hold.rule}: ${hold.message}`;
      const verdicts = members.map(({ ordinal, state, verdict }) => `${ordinal} ${state} ${verdict}`).join(', ');
      const text = [key, phase, `${updated}/${replicas}`, waits, verdicts && `(${verdicts})`]
        .filter(Boolean)
        .join('  ');
      if (this.#reported.get(key) === text) continue;
      this.#reported.set(key, text);
      this.#host.out(`${painted([piece(text)], false)}\n`);
    }
  }
}
