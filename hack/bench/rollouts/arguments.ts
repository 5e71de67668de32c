import { parseArgs } from 'node:util';
import { type Parsed, parsed, wholeNumber } from '../program/run-program.ts';
import { isMeasured, minReadies, type Only, restartsSeconds, rowsOf, sizes, waysOf } from './matrix.ts';
import { scenarios } from './scenario.ts';
import { ways } from './way.ts';

export interface RolloutsBenchOptions {
  readonly runs: number;
  readonly full: boolean;
  readonly only: Only;
  /** All that was measured on standard output, everything else on standard error. */
  readonly json: boolean;
  readonly record: string | undefined;
}

const mostRuns = 100;

/** What `--only` understands: a name, and the values that it may have. */
const choices: Readonly<Record<keyof Only, readonly (string | number)[]>> = {
  way: ways.map(({ slug }) => slug),
  scenario: scenarios.map(({ slug }) => slug),
  members: sizes,
  restart: restartsSeconds,
  minready: minReadies,
};
const names = Object.keys(choices) as (keyof Only)[];

/** Reads the arguments after the program's name. Prints nothing and never exits. */
export function parseRolloutsBenchArguments(argv: readonly string[]): Parsed<RolloutsBenchOptions> {
  return parsed(help, () => {
    const { values } = parseArgs({
      args: [...argv],
      options: {
        runs: { type: 'string', default: '3' },
        full: { type: 'boolean', default: false },
        only: { type: 'string', multiple: true, default: [] },
        json: { type: 'boolean', default: false },
        record: { type: 'string' },
        help: { type: 'boolean', short: 'h', default: false },
      },
    });
    if (values.help) return null;
    const { full, json, record } = values;
    const only = onlyOf(values.only);
    const isSomething = rowsOf(full, only).some((row) => waysOf(only).some((way) => isMeasured(row, way)));
    if (!isSomething) throw new TypeError('Expected --only to leave something to measure, got nothing of the matrix.');
    return { runs: wholeNumber('--runs', values.runs, 1, mostRuns), full, only, json, record };
  });
}

function onlyOf(texts: readonly string[]): Only {
  const chosen: Record<keyof Only, (string | number)[]> = {
    way: [],
    scenario: [],
    members: [],
    restart: [],
    minready: [],
  };
  for (const text of texts) {
    const [given = '', list = ''] = text.split(/=(.*)/s);
    const name = names.find((known) => known === given);
    if (name === undefined) {
      throw new TypeError(
        `Expected --only to begin with ${names.map((one) => `${one}=`).join(', ')}, got \`${text}\`.`,
      );
    }
    for (const value of list.split(',')) {
      const choice = choices[name].find((one) => String(one) === value);
      if (choice === undefined) {
        throw new TypeError(`Expected --only ${name}= to be of ${choices[name].join(', ')}, got \`${value}\`.`);
      }
      chosen[name].push(choice);
    }
  }
  return chosen as unknown as Only;
}

function help(): string {
  const list = (rows: readonly { readonly slug: string; readonly explanation: string }[]): string =>
    rows.map(({ slug, explanation }) => `  ${slug.padEnd(12)}  ${explanation}`).join('\n');
  return `Usage: hack/node.sh hack/bench/rollouts/main.ts [flags]

Measures the same rollout in every way that there is to update a StatefulSet of MOCO's, on a real control plane, beside
the time that no way of restarting one member at a time can be under. Every rollout has a cluster of its own; as many go
on side by side as leave the machine room.

  --runs N             how often each is measured, from 1 to ${mostRuns} (default 3)
  --full               everything that can go wrong at every size and restart time, and minReadySeconds with all of it;
                       else healthy clusters of every size and restart time, and of 3 and 5 members of 2 s what goes
                       wrong, and minReadySeconds
  --only NAME=A[,B]    that much of it; NAME is ${names.join(', ')}; may be given again for another name
  --json               all that was measured as one JSON object on standard output, all else on standard error
  --record FILE        the same with the tables into a file, for docs/performance
  -h, --help           show this and exit

Ways:
${list(ways)}

Scenarios:
${list(scenarios)}

It ends with status 1 where OnDelete takes more than 1.05 of the limit with members of 2 s or 10 s, moves the primary
more than once, or waits for a person.
`;
}
