import { parseArgs } from 'node:util';
import { ascendingNumbers, type Parsed, parsed, wholeNumber } from '../program/run-program.ts';
import type { RivalName } from './installation.ts';

export interface FleetBenchOptions {
  /** How many clusters the fleet has, one measurement after the other; ascending. */
  readonly clusters: readonly number[];
  /** How often fleets of up to {@link mostClustersForRounds} are rolled out by each rival. */
  readonly rounds: number;
  /** How many MySQLRolloutPolicies there are, one a team; every cluster is of one of the teams. */
  readonly policies: number;
  /** Beside the controller. */
  readonly rivals: readonly RivalName[];
  readonly moco: 'stand-in' | 'real';
  /** Another build of moco-controller than the released one. */
  readonly mocoController: string | undefined;
  /** From the deletion of a pod to the end of its processes. */
  readonly terminationSeconds: number;
  /** File that the tables and every number behind them are written to. */
  readonly record: string | undefined;
}

const mostClusters = 5000;
const mostPolicies = 1000;
/** Above that one round takes minutes. */
export const mostClustersForRounds = 100;

const usage = `Usage: hack/node.sh hack/bench/fleet/main.ts [flags]

Rolls out fleets on a real control plane, by the bundle in dist/ and by a plain loop beside it.

  --clusters N,N,…    clusters of three members, each number a measurement (10,100,1000)
  --rounds N          how often each rival rolls out a fleet of up to ${mostClustersForRounds}; larger ones once (3)
  --policies N        MySQLRolloutPolicies, one a team, each for its own clusters (50)
  --rivals A,B        of plain-loop and moco, beside the controller (plain-loop)
  --moco MOCO         stand-in, or real: moco-controller itself, with databases without data (stand-in)
  --moco-controller FILE    another build of moco-controller than the released one, with --moco real
  --termination-seconds N   from the deletion of a pod to the end of its processes (2)
  --record FILE       write the tables and all numbers behind them to this file
  --help              show this and exit
`;

/** Reads the arguments after the program's name. Prints nothing and never exits. */
export function parseFleetBenchArguments(argv: readonly string[]): Parsed<FleetBenchOptions> {
  return parsed(
    () => usage,
    () => {
      const { values } = parseArgs({
        args: [...argv],
        options: {
          clusters: { type: 'string', default: '10,100,1000' },
          rounds: { type: 'string', default: '3' },
          policies: { type: 'string', default: '50' },
          rivals: { type: 'string', default: 'plain-loop' },
          moco: { type: 'string', default: 'stand-in' },
          'moco-controller': { type: 'string' },
          'termination-seconds': { type: 'string', default: '2' },
          record: { type: 'string' },
          help: { type: 'boolean', default: false },
        },
      });
      if (values.help) return null;
      const { moco, 'moco-controller': mocoController } = values;
      if (mocoController !== undefined && moco !== 'real') {
        throw new TypeError(`Expected --moco real with --moco-controller, got --moco ${moco}.`);
      }
      return {
        clusters: ascendingNumbers('--clusters', values.clusters, mostClusters),
        rounds: wholeNumber('--rounds', values.rounds, 1, 100),
        policies: wholeNumber('--policies', values.policies, 0, mostPolicies),
        rivals: rivalsOf(values.rivals),
        moco: mocoOf(moco),
        mocoController,
        terminationSeconds: wholeNumber('--termination-seconds', values['termination-seconds'], 1, 300),
        record: values.record,
      };
    },
  );
}

const rivalNames: Readonly<Record<string, RivalName>> = { 'plain-loop': 'plain loop', moco: "MOCO's partitions" };

function rivalsOf(value: string): readonly RivalName[] {
  return value.split(',').map((name) => {
    const rival = rivalNames[name];
    if (rival === undefined) throw new TypeError(`Expected --rivals to be plain-loop or moco, got \`${name}\`.`);
    return rival;
  });
}

function mocoOf(value: string): FleetBenchOptions['moco'] {
  if (value === 'stand-in' || value === 'real') return value;
  throw new TypeError(`Expected --moco to be stand-in or real, got \`${value}\`.`);
}
