import { parseArgs } from 'node:util';
import { realHost } from '../src/cli/host.ts';
import { type Parsed, parsed, runProgram } from './bench/program/run-program.ts';
import { playDemo } from './demo/virtual-time.ts';

// Shows rollouts of the whole controller in virtual time, as the command line shows them.

const usage = `Usage: hack/node.sh hack/demo.ts [flags]

Plays rollouts of a simulated cluster in virtual time and shows them live.

  --speed N   how many times faster than real servers would be, from 1 to 1000, or max (default 10)
  -h, --help  show this and exit
`;
const speeds = { least: 1, most: 1_000, default: 10 };
const nextSteps = `
Next: \`make demo-cluster\` does it on a real control plane, and \`REAL=1 make demo-cluster\` with real MySQL servers.
Then install it: see "Install" in README.md.
`;

await runProgram(parse(process.argv.slice(2)), async (speed) => {
  await playDemo(realHost(), speed);
  process.stdout.write(nextSteps);
});

function parse(argv: readonly string[]): Parsed<number> {
  return parsed(
    () => usage,
    () => {
      const { values } = parseArgs({
        args: [...argv],
        options: {
          speed: { type: 'string', default: String(speeds.default) },
          help: { type: 'boolean', short: 'h', default: false },
        },
      });
      return values.help ? null : speedOf(values.speed);
    },
  );
}

function speedOf(text: string): number {
  if (text === 'max') return Number.POSITIVE_INFINITY;
  const speed = Number(text);
  if (speed >= speeds.least && speed <= speeds.most) return speed;
  throw new TypeError(
    `Expected --speed to be a number from ${speeds.least} to ${speeds.most} or max, got \`${text}\`.`,
  );
}
