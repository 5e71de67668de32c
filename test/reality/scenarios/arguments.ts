import { parseArgs } from 'node:util';
import { type Parsed, parsed, wholeNumber } from '../../../hack/bench/program/run-program.ts';
import { disturbed } from './disturbed.ts';
import { fetchedImages } from './fetched-images.ts';
import { imagesOnNodes } from './images-on-nodes.ts';
import { inPlace } from './in-place.ts';
import { mysqlFacts } from './mysql-facts.ts';
import { onNodes } from './on-nodes.ts';
import { podsOnNodes } from './pods-on-nodes.ts';
import type { Scenario } from './scenario.ts';
import { unchanged } from './unchanged.ts';
import { others, undisturbed } from './undisturbed.ts';
import { unserved } from './unserved.ts';

export interface RealityOptions {
  readonly scenarios: readonly Scenario[];
  readonly runs: number;
  /** How many rollouts, each with a scenario that is drawn; `null`: every scenario is played. */
  readonly random: number | null;
  /** How many rollouts at a time: more than one share the machine, and are not measured. */
  readonly sideBySide: number;
  /** Those of the same size begin together, and suffer the same: to compare them. */
  readonly together: boolean;
  /** Where everything that was seen is kept. */
  readonly output: string | undefined;
  readonly record: string | undefined;
}

const troubles: readonly Scenario[] = [...onNodes, ...imagesOnNodes, ...podsOnNodes];

export const scenarios: readonly Scenario[] = [
  ...undisturbed,
  ...disturbed,
  ...unserved,
  ...unchanged,
  ...inPlace,
  ...mysqlFacts,
  ...fetchedImages,
  ...troubles,
  ...others,
];
const mostRuns = 100;
const mostSideBySide = 20;

/** Reads the arguments after the program's name. Prints nothing and never exits. */
export function parseRealityArguments(argv: readonly string[]): Parsed<RealityOptions> {
  return parsed(help, () => {
    const { values } = parseArgs({
      args: [...argv],
      options: {
        only: { type: 'string' },
        runs: { type: 'string', default: '1' },
        random: { type: 'string' },
        'side-by-side': { type: 'string', default: '1' },
        together: { type: 'boolean', default: false },
        output: { type: 'string' },
        record: { type: 'string' },
        help: { type: 'boolean', short: 'h', default: false },
      },
    });
    if (values.help) return null;
    const { only, runs, random, output, record, together } = values;
    return {
      scenarios: random === undefined || only !== undefined ? chosen(only) : troubles,
      random: random === undefined ? null : wholeNumber('--random', random, 1, mostRuns),
      runs: wholeNumber('--runs', runs, 1, mostRuns),
      sideBySide: wholeNumber('--side-by-side', values['side-by-side'], 1, mostSideBySide),
      together,
      output,
      record,
    };
  });
}

function chosen(only: string | undefined): readonly Scenario[] {
  if (only === undefined) return scenarios;
  return only.split(',').map((name) => {
    const found = scenarios.find(({ slug }) => slug === name);
    if (found === undefined) {
      throw new TypeError(
        `Expected --only to name some of ${scenarios.map(({ slug }) => slug).join(', ')}, got \`${name}\`.`,
      );
    }
    return found;
  });
}

function help(): string {
  const width = 2 + Math.max(...scenarios.map(({ slug }) => slug.length));
  const list = scenarios.map(({ slug, title }) => `  ${slug.padEnd(width)}${title}`).join('\n');
  return `Usage: hack/node.sh test/reality/scenarios/main.ts [flags]

Plays rollouts with moco-controller, moco-agent and mysqld themselves, under a write load, on a control plane of its own.
Every acknowledged row is looked for on every member afterwards.

  --only A[,B]     these scenarios
  --runs N         how often each is played, from 1 to ${mostRuns} (default 1)
  --random N       N rollouts, each with a scenario that is drawn from those of --only, or from all that happens to nodes,
                   images and pods; SEED=S draws the same
  --side-by-side N so many at a time, from 1 to ${mostSideBySide} (default 1); only one at a time is a measurement
  --together       those of the same size begin at the same moment, as many as there are: a comparison on a busy machine
  --output DIR     where timelines, Events, metrics and logs of each rollout are kept (default: in .cache/reality-runs)
  --record FILE    the figures as JSON, for docs/performance
  -h, --help       show this and exit

Scenarios:
${list}

It ends with status 1 where one fails, and with status 2 where it can't run here.
`;
}
