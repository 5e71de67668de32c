import { Command, InvalidArgumentError, Option } from 'commander';
import { ascendingNumbers, wholeNumber } from '../../program/run-program.ts';
import { recordFlag } from '../record/record.ts';
import type { RivalName } from './installation.ts';

// The options of the fleet benchmark, and what they mean.

export interface FleetBenchOptions {
  /** The sizes of the fleet to measure, in clusters, in ascending order. */
  readonly clusters: readonly number[];
  /** How many times each rival rolls out a fleet of up to {@link mostClustersForRounds} clusters. */
  readonly rounds: number;
  /** The number of MySQLRolloutPolicies. There is one for each team, and every cluster belongs to a team. */
  readonly policies: number;
  /** The programs that are measured in addition to the controller. */
  readonly rivals: readonly RivalName[];
  readonly moco: 'stand-in' | 'real';
  /** A build of moco-controller that differs from the released one. */
  readonly mocoController?: string;
  /** The time from the deletion of a pod to the end of its processes. */
  readonly terminationSeconds: number;
  /** The file for the tables and all numbers behind them. */
  readonly record?: string;
}

const mostClusters = 5000;
const mostPolicies = 1000;
/** Above this size a single round takes minutes. */
export const mostClustersForRounds = 100;

const rivalNames: Readonly<Record<string, RivalName>> = { 'plain-loop': 'plain loop', moco: "MOCO's partitions" };

export const fleetCommand = (): Command =>
  new Command('hack/bench/fleet/main.ts')
    .description(
      'Rolls out fleets on a real control plane, with the bundle in dist/ and, for comparison, with a plain loop.',
    )
    .option(
      '--clusters <numbers>',
      'numbers of clusters (of three members) to measure',
      ascendingNumbers(mostClusters),
      [10, 100, 1000],
    )
    .option(
      '--rounds <number>',
      `how often each rival rolls out a fleet of up to ${mostClustersForRounds}; larger ones once`,
      wholeNumber(1, 100),
      3,
    )
    .option(
      '--policies <number>',
      'number of MySQLRolloutPolicies; each selects the clusters of one team',
      wholeNumber(0, mostPolicies),
      50,
    )
    .addOption(
      new Option(
        '--rivals <names>',
        `programs to measure besides the controller: ${Object.keys(rivalNames).join(', ')}`,
      )
        .argParser(rivalsOf)
        .default(['plain loop'], 'plain-loop'),
    )
    .addOption(
      new Option('--moco <moco>', 'real: moco-controller itself, with databases that contain no data')
        .choices(['stand-in', 'real'])
        .default('stand-in'),
    )
    .option(
      '--moco-controller <file>',
      'with --moco real: a build of moco-controller to use instead of the released one',
    )
    .option(
      '--termination-seconds <number>',
      'time from the deletion of a pod to the end of its processes',
      wholeNumber(1, 300),
      2,
    )
    .addOption(recordFlag());

function rivalsOf(value: string): readonly RivalName[] {
  return value.split(',').map((name) => {
    const rival = rivalNames[name];
    if (rival === undefined) throw new InvalidArgumentError(`Expected ${Object.keys(rivalNames).join(' or ')}.`);
    return rival;
  });
}
