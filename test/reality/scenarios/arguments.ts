import { Command, InvalidArgumentError } from 'commander';
import { recordFlag } from '../../../hack/bench/record/record.ts';
import { wholeNumber } from '../../../hack/program/run-program.ts';
import { disturbed } from './disturbed.ts';
import { fetchedImages } from './fetched-images.ts';
import { imagesOnNodes } from './images-on-nodes.ts';
import { inPlace } from './in-place.ts';
import { mysqlFacts } from './mysql-facts.ts';
import { onNodes } from './on-nodes.ts';
import { podsOnNodes } from './pods-on-nodes.ts';
import { rollingDrains } from './rolling-drains.ts';
import type { Scenario } from './scenario.ts';
import { unchanged } from './unchanged.ts';
import { others, undisturbed } from './undisturbed.ts';
import { unserved } from './unserved.ts';

export interface RealityOptions {
  /** Left out: {@link scenarios}. */
  readonly only?: readonly Scenario[];
  readonly runs: number;
  /** How many rollouts at a time: more than one share the machine, and are not measured. */
  readonly sideBySide: number;
  /** How many nodes there are. */
  readonly nodes: number;
  /** Where everything that was seen is kept. */
  readonly output?: string;
  readonly record?: string;
}

/** Those that are played without `--only`. */
export const scenarios: readonly Scenario[] = [
  ...undisturbed,
  ...disturbed,
  ...unserved,
  ...unchanged,
  ...inPlace,
  ...mysqlFacts,
  ...fetchedImages,
  ...onNodes,
  ...imagesOnNodes,
  ...podsOnNodes,
  ...others,
];
/** They are played only by name: they need more nodes. */
const named: readonly Scenario[] = [...scenarios, ...rollingDrains];
const usualNodes = 3;
const mostNodes = 6;
const mostRuns = 100;
const mostSideBySide = 20;

export const realityCommand = (): Command =>
  new Command('test/reality/scenarios/main.ts')
    .description(
      'Plays rollouts with moco-controller, moco-agent and mysqld themselves, under a write load, on a control plane of its own. Every acknowledged row is looked for on every member afterwards.',
    )
    .option('--only <scenarios>', 'these scenarios, separated by commas', chosen)
    .option('--runs <number>', `how often each is played, from 1 to ${mostRuns}`, wholeNumber(1, mostRuns), 1)
    .option(
      '--side-by-side <number>',
      `so many at a time, from 1 to ${mostSideBySide}; only one at a time is a measurement`,
      wholeNumber(1, mostSideBySide),
      1,
    )
    .option(
      '--nodes <number>',
      'how many nodes there are, from 3 to 6; rolling-drain needs 4',
      wholeNumber(usualNodes, mostNodes),
      usualNodes,
    )
    .option(
      '--output <directory>',
      'where timelines, Events, metrics and logs of each rollout are kept (default: in .cache/reality-runs)',
    )
    .addOption(recordFlag())
    .addHelpText('after', () => `\n${help()}`);

function chosen(only: string): readonly Scenario[] {
  return only.split(',').map((name) => {
    const found = named.find(({ slug }) => slug === name);
    if (found === undefined) {
      throw new InvalidArgumentError(`Expected some of ${named.map(({ slug }) => slug).join(', ')}.`);
    }
    return found;
  });
}

function help(): string {
  const width = 2 + Math.max(...named.map(({ slug }) => slug.length));
  const list = named.map(({ slug, title }) => `  ${slug.padEnd(width)}${title}`).join('\n');
  return `Scenarios:\n${list}\n\nIt ends with status 1 where one fails, and with status 2 where it can't run here.`;
}
