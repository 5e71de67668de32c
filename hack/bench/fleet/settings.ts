import { Command, InvalidArgumentError, Option } from 'commander';
import { ascendingNumbers, wholeNumber } from '../../program/run-program.ts';
import { recordFlag } from '../record/record.ts';
import type { RivalName } from './installation.ts';

export interface FleetBenchOptions {
  /** How many clusters the fleet has in each measurement; ascending. */
  readonly clusters: readonly number[];
  /** How often fleets of up to {@link mostClustersForRounds} are rolled out by each rival. */
  readonly rounds: number;
  /** How many MySQLRolloutPolicies there are, one for each team. Every cluster belongs to a team. */
  readonly policies: number;
  /** The programs that are measured in addition to the controller. */
  readonly rivals: readonly RivalName[];
  readonly moco: 'stand-in' | 'real';
  /** A different build of moco-controller than the released one. */
  readonly mocoController?: string;
  /** From the deletion of a pod to the end of its processes. */
  readonly terminationSeconds: number;
  /** The file for the tables and every number behind them. */
  readonly record?: string;
}

const mostClusters = 5000;
const mostPolicies = 1000;
/** Above this size a single round takes minutes. */
export const mostClustersForRounds = 100;

const rivalNames: Readonly<Record<string, RivalName>> = { 'plain-loop': 'plain loop', moco: "MOCO's partitions" };

export const fleetCommand = (): Command =>
  new Command('hack/bench/fleet/main.ts')
    .description('Rolls out fleets on a real control plane, by the bundle in dist/ and by a plain loop beside it.')
    .option(
      '--clusters <numbers>',
      'clusters of three members, each number a measurement',
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
      'MySQLRolloutPolicies, one a team, each for its own clusters',
      wholeNumber(0, mostPolicies),
      50,
    )
    .addOption(
      new Option('--rivals <names>', `of ${Object.keys(rivalNames).join(' and ')}, beside the controller`)
        .argParser(rivalsOf)
        .default(['plain loop'], 'plain-loop'),
    )
    .addOption(
      new Option('--moco <moco>', 'real is moco-controller itself, with databases without data')
        .choices(['stand-in', 'real'])
        .default('stand-in'),
    )
    .option('--moco-controller <file>', 'another build of moco-controller than the released one, with --moco real')
    .option(
      '--termination-seconds <number>',
      'from the deletion of a pod to the end of its processes',
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
