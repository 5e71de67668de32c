import { homedir } from 'node:os';
import { printable } from '../base/text.ts';

/** The environment of a command: its outputs, and facts about the process. */
export interface Host {
  /** The program's name as the user typed it. */
  readonly program: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  /** Results go to standard output, everything else to standard error. */
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /**
   * Also writes to standard output, but allows this program's own control sequences. If it is absent, `out` is used.
   */
  readonly draw?: (text: string) => void;
  /** The current size and colours of the terminal, or `null` if standard output is not a terminal. */
  readonly terminal: () => Terminal | null;
  /**
   * Registers a callback for the moment when the user interrupts the command. The command then does not exit at once.
   * Returns a function that unregisters the callback.
   */
  readonly onInterrupt: (callback: () => void) => () => void;
  /** The current time in milliseconds since 1970. Ages are relative to this time. */
  readonly wall: () => number;
}

export interface Terminal {
  readonly columns: number;
  readonly rows: number;
  readonly colour: boolean;
}

const defaultColumns = 80;
const defaultRows = 24;

/** A host that writes control sequences only through `draw`, because most texts quote other programs or people. */
export const withoutControls = (host: Host): Host => ({
  ...host,
  out: (text) => host.out(printable(text)),
  err: (text) => host.err(printable(text)),
  draw: host.draw ?? host.out,
});

/** Writes lines with colors, after making their text printable. */
export const draw = (host: Host, text: string): void => (host.draw ?? host.out)(text);

/** The host of this process. If the program runs as a kubectl plugin, it has the name that the user typed. */
export function realHost(): Host {
  // A reader that closes the pipe early (`| head`) is not a failure.
  process.stdout.on('error', () => undefined);
  const { env } = process;
  return {
    program: process.argv[1]?.includes('kubectl-') ? 'kubectl moco-rollout' : 'moco-rollout',
    env,
    home: homedir(),
    out: (text) => void process.stdout.write(text),
    err: (text) => void process.stderr.write(text),
    onInterrupt: (callback) => {
      for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, callback);
      return () => {
        for (const signal of ['SIGINT', 'SIGTERM'] as const) process.off(signal, callback);
      };
    },
    // oxlint-disable-next-line no-restricted-globals -- the only place of the command line that reads the clock
    wall: () => Date.now(),
    terminal: () => {
      const { isTTY, columns, rows } = process.stdout;
      if (!isTTY) return null;
      // Node evaluates NO_COLOR, FORCE_COLOR and TERM.
      return { columns: columns || defaultColumns, rows: rows || defaultRows, colour: process.stdout.hasColors(env) };
    },
  };
}
