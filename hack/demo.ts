import { Command, InvalidArgumentError } from 'commander';
import { realHost } from '../src/cli/host.ts';
import { playDemo } from './demo/virtual-time.ts';
import { runProgram } from './program/run-program.ts';

// Shows rollouts by the whole controller in virtual time, with the plugin's command line.

const speeds = { least: 1, most: 1_000, default: 10 };
const nextSteps = `
Next: \`make demo-cluster\` does it on a real control plane, and \`REAL=1 make demo-cluster\` with real MySQL servers.
Then install it: see "Install" in README.md.
`;

const command = new Command('hack/demo.ts')
  .description('Plays rollouts of a simulated cluster in virtual time and shows them live.')
  .option(
    '--speed <number>',
    `how many times faster than with real servers, from ${speeds.least} to ${speeds.most}, or max`,
    speedOf,
    speeds.default,
  );

await runProgram(command, async ({ speed }: { readonly speed: number }) => {
  await playDemo(realHost(), speed);
  process.stdout.write(nextSteps);
});

function speedOf(text: string): number {
  if (text === 'max') return Number.POSITIVE_INFINITY;
  const speed = Number(text);
  if (speed >= speeds.least && speed <= speeds.most) return speed;
  throw new InvalidArgumentError(`Expected a number from ${speeds.least} to ${speeds.most} or max.`);
}
