import { parseArgs } from 'node:util';
import type { Parsed } from '../demo/arguments.ts';

export interface RuntimeBenchOptions {
  readonly clusters: number;
  readonly namespaces: number;
  readonly idleSeconds: number;
  readonly events: { readonly perSecond: number; readonly seconds: number };
  /** A file to write the numbers into. */
  readonly record?: string | undefined;
}

const usage = `Usage: node hack/bench-runtime/main.ts [flags]

  --clusters N        clusters of three members (1000)
  --namespaces N      namespaces that they are in (10)
  --idle-seconds N    how long an idle program is watched (60)
  --events N          events a second (1000)
  --event-seconds N   for so long (20)
  --record FILE       write the numbers into that file, as docs/performance has them
`;

/** Reads the arguments after the program's name. Prints nothing and never exits. */
export function parseRuntimeBenchArguments(argv: readonly string[]): Parsed<RuntimeBenchOptions> {
  try {
    const { values } = parseArgs({
      args: [...argv],
      options: {
        clusters: { type: 'string', default: '1000' },
        namespaces: { type: 'string', default: '10' },
        'idle-seconds': { type: 'string', default: '60' },
        events: { type: 'string', default: '1000' },
        'event-seconds': { type: 'string', default: '20' },
        record: { type: 'string' },
        help: { type: 'boolean', default: false },
      },
    });
    if (values.help) return { kind: 'help', text: usage };
    const options = {
      clusters: whole('--clusters', values.clusters),
      namespaces: whole('--namespaces', values.namespaces),
      idleSeconds: whole('--idle-seconds', values['idle-seconds']),
      events: {
        perSecond: whole('--events', values.events),
        seconds: whole('--event-seconds', values['event-seconds']),
      },
      record: values.record,
    };
    return { kind: 'options', options };
  } catch (error) {
    return { kind: 'usage-error', message: error instanceof Error ? error.message : String(error) };
  }
}

function whole(flag: string, text: string): number {
  const value = Number(text);
  if (Number.isInteger(value) && value > 0) return value;
  throw new TypeError(`expected ${flag} to be a whole number from 1 up, got ${text}`);
}
