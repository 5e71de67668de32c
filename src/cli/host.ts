import { homedir } from 'node:os';

/** Everything around a command: what it is told by its surroundings, and where it writes. */
export interface Host {
  /** As the user calls the program. */
  readonly program: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly home: string;
  /** Standard output, and standard error for what is no result. */
  readonly out: (text: string) => void;
  readonly err: (text: string) => void;
  /** Columns and rows of the terminal that standard output is, asked anew each time; `null` where it is none. */
  readonly terminal: () => Terminal | null;
  /** Calls back when the user interrupts, instead of ending at once. Returns a function that ends that. */
  readonly onInterrupt: (callback: () => void) => () => void;
  /** Milliseconds since 1970: what ages are counted to. */
  readonly wall: () => number;
}

export interface Terminal {
  readonly columns: number;
  readonly rows: number;
  readonly colour: boolean;
}

const defaultColumns = 80;
const defaultRows = 24;

/** This process. Started as a plugin of kubectl it calls itself as kubectl does. */
export function realHost(): Host {
  // A reader that goes early (`| head`) is no failure.
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
    // oxlint-disable-next-line no-restricted-globals -- the one place of the command line where the clock comes in
    wall: () => Date.now(),
    terminal: () => {
      const { isTTY, columns, rows } = process.stdout;
      // https://no-color.org
      const colour = !env['NO_COLOR'] && env['TERM'] !== 'dumb';
      return isTTY ? { columns: columns || defaultColumns, rows: rows || defaultRows, colour } : null;
    },
  };
}
