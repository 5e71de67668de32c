import { parseArgs } from 'node:util';
import { runWhereItCan } from '../test/reality/requirements.ts';
import { interruption } from './bench/program/interruption.ts';
import { type Parsed, parsed, runProgram } from './bench/program/run-program.ts';
import { rollOutRealServers } from './demo/real-servers.ts';
import { rollOutStandIns, type StandInsOptions } from './demo/stand-ins.ts';

// Rolls out a new image on a real control plane. The command line shows it live, as a user sees it.

const usage = `Usage: hack/node.sh hack/demo-cluster.ts [flags]

Rolls out a new image on a real control plane and shows it live.

  --members N        members of the cluster, an odd number from 1 to 9, with --real to 5 (default 3)
  --restart SECONDS  how long a member takes to stop and start again, from 0.5 to 60 (default 2); not with --real
  --real             in a whole Kubernetes with nodes, MOCO and mysqld, under load, not with stand-ins (Linux, root)
  -h, --help         show this and exit
`;
const mostMembers = { real: 5, standIns: 9 };
const restartSeconds = { least: 0.5, most: 60, default: 2 };

interface Options extends StandInsOptions {
  readonly real: boolean;
}

const say = (line: string): void => console.log(line);

const asked = parse(process.argv.slice(2));
if (asked.kind === 'options' && asked.options.real) {
  await runWhereItCan(asked, asked.options.members, ({ members }) => rollOutRealServers(members, say, interruption()));
}
await runProgram(asked, (options) => rollOutStandIns(options, say, interruption()));

function parse(argv: readonly string[]): Parsed<Options> {
  return parsed(
    () => usage,
    () => {
      const { values } = parseArgs({
        args: [...argv],
        options: {
          members: { type: 'string', default: '3' },
          restart: { type: 'string' },
          real: { type: 'boolean', default: false },
          help: { type: 'boolean', short: 'h', default: false },
        },
      });
      if (values.help) return null;
      const { real } = values;
      if (real && values.restart !== undefined) {
        throw new TypeError(
          'Expected either --real or --restart, got both: real servers restart in their own time, leave --restart out.',
        );
      }
      return { real, members: membersOf(values.members, real), restartMilliseconds: restartOf(values.restart) };
    },
  );
}

function membersOf(text: string, real: boolean): number {
  const members = Number(text);
  const most = real ? mostMembers.real : mostMembers.standIns;
  if (Number.isInteger(members) && members % 2 === 1 && members >= 1 && members <= most) return members;
  throw new TypeError(`Expected --members to be an odd number from 1 to ${most}, got \`${text}\`.`);
}

function restartOf(text = String(restartSeconds.default)): number {
  const { least, most } = restartSeconds;
  const seconds = Number(text);
  if (seconds >= least && seconds <= most) return seconds * 1_000;
  throw new TypeError(`Expected --restart to be seconds from ${least} to ${most}, got \`${text}\`.`);
}
