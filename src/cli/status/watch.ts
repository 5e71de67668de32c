import { delay } from '../../kube/delay.ts';
import { LiveClusters } from '../live-clusters.ts';
import { clipped, type Line, painted } from '../painted.ts';
import type { Session } from '../session.ts';
import { block } from './block.ts';
import { overview } from './overview.ts';
import { type StatusView, viewOf } from './view.ts';

/** Ages are shown in seconds. */
const redrawMilliseconds = 1000;
/** What changes at once is drawn at once. */
const gatherMilliseconds = 50;
const interruptedStatus = 130;

/**
 * Shows the clusters until interrupted: on a terminal one picture that is drawn anew, else one line for each change of
 * what a cluster does.
 */
export async function watchStatus(session: Session, names: readonly string[]): Promise<number> {
  const { host, world } = session;
  const stop = new AbortController();
  const unhook = host.onInterrupt(() => stop.abort());
  const screen = host.terminal() === null ? new Lines(session) : new Picture(session, names);
  let isDrawing = false;
  const draw = async (): Promise<void> => {
    if (isDrawing) return;
    isDrawing = true;
    await delay(world, gatherMilliseconds, stop.signal);
    isDrawing = false;
    if (!stop.signal.aborted) screen.show(viewsOf(session, live, names));
  };
  const live: LiveClusters = new LiveClusters(
    session,
    names.length === 1 ? (names[0] ?? null) : null,
    () => void draw(),
    stop.signal,
  );
  try {
    await live.synced;
    while (!stop.signal.aborted) {
      await draw();
      await delay(world, redrawMilliseconds, stop.signal);
    }
  } finally {
    unhook();
    stop.abort();
    await live.ended;
  }
  return interruptedStatus;
}

function viewsOf({ world }: Session, live: LiveClusters, names: readonly string[]): readonly StatusView[] {
  const now = world.wall();
  return live.all
    .filter(({ cluster }) => names.length === 0 || names.includes(cluster.name))
    .map(({ cluster, rollout }) => viewOf(cluster, rollout, now));
}

class Picture {
  readonly #session: Session;
  readonly #names: readonly string[];
  #rows = 0;

  constructor(session: Session, names: readonly string[]) {
    this.#session = session;
    this.#names = names;
  }

  show(views: readonly StatusView[]): void {
    const { host, namespace } = this.#session;
    const terminal = host.terminal();
    if (terminal === null) return;
    const { columns, rows, colour } = terminal;
    const lines: readonly Line[] =
      this.#names.length === 0
        ? overview(views, namespace === null)
        : views.flatMap((view, index) =>
            index === 0 ? block(view, host.program) : [[], ...block(view, host.program)],
          );
    // The last row stays free, where the cursor is.
    const shown = lines.slice(0, rows - 1).map((line) => `${painted(clipped(line, columns), colour)}\u001B[K\n`);
    const up = this.#rows === 0 ? '' : `\u001B[${this.#rows}A`;
    this.#rows = shown.length;
    host.out(`${up}\r${shown.join('')}\u001B[J`);
  }
}

class Lines {
  readonly #session: Session;
  readonly #said = new Map<string, string>();

  constructor(session: Session) {
    this.#session = session;
  }

  show(views: readonly StatusView[]): void {
    for (const { namespace, name, phase, updated, replicas, hold, notes, members } of views) {
      const waits = hold === null ? (notes[0] ?? '') : `${hold.rule}: ${hold.message}`;
      const said = `${namespace}/${name}  ${phase}  ${updated}/${replicas}  ${waits}`.trimEnd();
      const verdicts = members.map(({ ordinal, state, verdict }) => `${ordinal} ${state} ${verdict}`).join(', ');
      const key = `${namespace}/${name}`;
      if (this.#said.get(key) === said + verdicts) continue;
      this.#said.set(key, said + verdicts);
      this.#session.host.out(
        `${painted([{ text: said, style: 'plain' }], false)}${verdicts === '' ? '' : `  (${verdicts})`}\n`,
      );
    }
  }
}
