import { parseArgs } from 'node:util';
import { ascendingNumbers, type Parsed, parsed, wholeNumber } from '../program/run-program.ts';

export interface RuntimeBenchOptions {
  /** How many clusters the fleet has, one measurement after the other; ascending. */
  readonly clusters: readonly number[];
  readonly namespaces: number;
  readonly idleSeconds: number;
  /** A file to write the numbers into. */
  readonly record?: string | undefined;
}

const usage = `Usage: node hack/bench/runtime/main.ts [flags]

  --clusters N,N,…    clusters of three members; several numbers show how each figure grows (1000)
  --namespaces N      namespaces that they are in (10)
  --idle-seconds N    how long an idle program is watched (60)
  --record FILE       write the numbers into that file, as docs/performance has them
`;

/** Reads the arguments after the program's name. Prints nothing and never exits. */
export function parseRuntimeBenchArguments(argv: readonly string[]): Parsed<RuntimeBenchOptions> {
  return parsed(
    () => usage,
    () => {
      const { values } = parseArgs({
        args: [...argv],
        options: {
          clusters: { type: 'string', default: '1000' },
          namespaces: { type: 'string', default: '10' },
          'idle-seconds': { type: 'string', default: '60' },
          record: { type: 'string' },
          help: { type: 'boolean', default: false },
        },
      });
      if (values.help) return null;
      return {
        clusters: ascendingNumbers('--clusters', values.clusters, Number.MAX_SAFE_INTEGER),
        namespaces: wholeNumber('--namespaces', values.namespaces, 1, Number.MAX_SAFE_INTEGER),
        idleSeconds: wholeNumber('--idle-seconds', values['idle-seconds'], 1, Number.MAX_SAFE_INTEGER),
        record: values.record,
      };
    },
  );
}
