import { Command, InvalidArgumentError } from 'commander';
import { runWhereItCan } from '../test/reality/requirements.ts';
import { rollOutRealServers } from './demo/real-servers.ts';
import { rollOutStandIns } from './demo/stand-ins.ts';
import { interruption } from './program/interruption.ts';
import { runProgram } from './program/run-program.ts';

// Rolls out a new image on a real control plane, and shows it live with the plugin's command line.

interface Options {
  readonly members: number;
  readonly restart?: number;
  readonly real?: true;
}

const most = { real: 5, standIns: 9 };
const restartSeconds = { least: 0.5, most: 60, default: 2 };

const command = new Command('hack/demo-cluster.ts')
  .description('Rolls out a new image on a real control plane and shows it live.')
  .option('--members <number>', `members of the cluster, an odd number from 1 to ${most.standIns}`, membersOf, 3)
  .option('--restart <seconds>', `how long a member takes to stop and start again (default: 2)`, restartOf)
  .option(
    '--real',
    'use a complete Kubernetes with nodes, MOCO and mysqld under load instead of stand-ins (Linux, root)',
  );

await runProgram(command, async ({ real, members, restart }: Options) => {
  const say = (line: string): void => console.log(line);
  if (!real) {
    const restartMilliseconds = (restart ?? restartSeconds.default) * 1_000;
    return rollOutStandIns({ members, restartMilliseconds }, say, interruption());
  }
  if (restart !== undefined)
    command.error('error: --restart cannot be combined with --real: real servers determine how long they take');
  if (members > most.real) command.error(`error: --members is at most ${most.real} with --real, got ${members}`);
  return runWhereItCan(members, () => rollOutRealServers(members, say, interruption()));
});

function membersOf(text: string): number {
  const members = Number(text);
  if (Number.isInteger(members) && members % 2 === 1 && members >= 1 && members <= most.standIns) return members;
  throw new InvalidArgumentError(`Expected an odd number from 1 to ${most.standIns}.`);
}

function restartOf(text: string): number {
  const seconds = Number(text);
  if (seconds >= restartSeconds.least && seconds <= restartSeconds.most) return seconds;
  throw new InvalidArgumentError(`Expected seconds from ${restartSeconds.least} to ${restartSeconds.most}.`);
}
