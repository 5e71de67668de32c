import { parseArgs } from 'node:util';
import { type Parsed, parsed, wholeNumber } from '../program/run-program.ts';
import { mostRatio } from './figures.ts';
import { cellsOf } from './matrix.ts';
import { scenarios } from './scenario.ts';
import { ways } from './way.ts';

export interface RolloutsBenchOptions {
  readonly runs: number;
  /** What is measured has this in its namespace: `on-delete-healthy-3`. */
  readonly only: string;
  readonly record: string | undefined;
}

const mostRuns = 100;

/** Reads the arguments after the program's name. Prints nothing and never exits. */
export function parseRolloutsBenchArguments(argv: readonly string[]): Parsed<RolloutsBenchOptions> {
  return parsed(help, () => {
    const { values } = parseArgs({
      args: [...argv],
      options: {
        runs: { type: 'string', default: '3' },
        only: { type: 'string', default: '' },
        record: { type: 'string' },
        help: { type: 'boolean', short: 'h', default: false },
      },
    });
    if (values.help) return null;
    const { only, record } = values;
    if (cellsOf(1, only).length === 0) {
      throw new TypeError(`Expected --only to be part of WAY-SCENARIO-MEMBERS-of-MILLISECONDS, got \`${only}\`.`);
    }
    return { runs: wholeNumber('--runs', values.runs, 1, mostRuns), only, record };
  });
}

function help(): string {
  const list = (rows: readonly { readonly slug: string; readonly explanation: string }[]): string =>
    rows.map(({ slug, explanation }) => `  ${slug.padEnd(12)}  ${explanation}`).join('\n');
  return `Usage: hack/node.sh hack/bench/rollouts/main.ts [flags]

Measures the same rollout in every way that there is to update a StatefulSet of MOCO's, on a real control plane, beside
the time that no way of restarting one member at a time can be under. Every rollout has a cluster of its own; as many go
on side by side as leave the machine room.

  --runs N       how often each is measured, from 1 to ${mostRuns} (default 3)
  --only TEXT    only what has this in WAY-SCENARIO-MEMBERS-of-MILLISECONDS, such as on-delete-healthy-3-of-2000
  --record FILE  write tables and raw numbers to this file, as docs/performance has them
  -h, --help     show this and exit

Ways:
${list(ways)}

Scenarios:
${list(scenarios)}

It ends with status 1 where OnDelete takes more than ${mostRatio} of the limit with members of 2 s or 10 s, moves the primary
more than once, or waits for a person.
`;
}
