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
  /** Left out: see {@link scenariosOf}. */
  readonly only?: readonly Scenario[];
  readonly runs: number;
  /** How many rollouts, each with a scenario that is drawn; left out: every scenario is played. */
  readonly random?: number;
  /** How many rollouts at a time: more than one share the machine, and are not measured. */
  readonly sideBySide: number;
  /** How many nodes there are. */
  readonly nodes: number;
  /** Those of the same size begin together, and suffer the same: to compare them. */
  readonly together?: true;
  /** Where everything that was seen is kept. */
  readonly output?: string;
  readonly record?: string;
}

const troubles: readonly Scenario[] = [...onNodes, ...imagesOnNodes, ...podsOnNodes];

const scenarios: readonly Scenario[] = [
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
      '--random <number>',
      'so many rollouts, each with a scenario that is drawn from those of --only, or from all that happens to nodes, images and pods; SEED=S draws the same',
      wholeNumber(1, mostRuns),
    )
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
      '--together',
      'those of the same size begin at the same moment, as many as there are: a comparison on a busy machine',
    )
    .option(
      '--output <directory>',
      'where timelines, Events, metrics and logs of each rollout are kept (default: in .cache/reality-runs)',
    )
    .addOption(recordFlag())
    .addHelpText('after', () => `\n${help()}`);

/** Without `--only` every one, or of random ones those in which something happens to nodes, images and pods. */
export const scenariosOf = ({ only, random }: RealityOptions): readonly Scenario[] =>
  only ?? (random === undefined ? scenarios : troubles);

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
