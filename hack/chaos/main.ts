import { parseArgs } from 'node:util';
import { startControlPlane } from '../control-plane/control-plane.ts';
import { playChaos } from './chaos.ts';
import { drawClusters } from './plan.ts';

// Rolls out clusters on a real control plane while processes of the controller are killed, frozen, cut off and lied to,
// and holds what the API server says was done against the invariants. Ends with 1 on a violation or a rollout that is lost.

const usage = 'usage: [SEED=S] hack/chaos/main.ts [--rollouts N] [--side-by-side N] [--minutes N]';
/** So many clusters meet replicas that elect a leader; the others meet two that act at once, all the time. */
const electingShare = 0.7;
const failureExitCode = 1;
const usageExitCode = 2;

const { rollouts, sideBySide, minutes } = readArguments();
const seed = process.env['SEED'] || String(Date.now() % 1_000_000);
console.log(`SEED=${seed}, ${rollouts} rollouts, at most ${minutes} minutes`);
const beganAt = performance.now();
const controlPlane = await startControlPlane();
try {
  const plans = drawClusters(seed, rollouts);
  const electing = Math.ceil(plans.length * electingShare);
  const acts = [
    { elect: true, plans: plans.slice(0, electing) },
    { elect: false, plans: plans.slice(electing) },
  ];
  const milliseconds = minutes * 60_000;
  const tally = await playChaos(controlPlane, { seed, acts, disturbs: true, sideBySide, milliseconds, onLine: print });
  const isShort = tally.rollouts < rollouts;
  if (isShort) print(`expected ${rollouts} rollouts within ${minutes} minutes, got ${tally.rollouts}`);
  print(`${((performance.now() - beganAt) / 1000).toFixed(0)} s`);
  for (const line of tally.lines) print(line);
  process.exitCode = tally.isFailure || isShort ? failureExitCode : 0;
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = failureExitCode;
} finally {
  await controlPlane.stop();
}

function print(line: string): void {
  console.log(line);
}

function readArguments(): { readonly rollouts: number; readonly sideBySide: number; readonly minutes: number } {
  try {
    const { values } = parseArgs({
      options: {
        rollouts: { type: 'string', default: '100' },
        'side-by-side': { type: 'string', default: '6' },
        minutes: { type: 'string', default: '25' },
      },
    });
    return {
      rollouts: whole('--rollouts', values.rollouts),
      sideBySide: whole('--side-by-side', values['side-by-side']),
      minutes: whole('--minutes', values.minutes),
    };
  } catch (error) {
    return refuse(error instanceof Error ? error.message : String(error));
  }
}

function whole(flag: string, value: string): number {
  return /^[1-9]\d{0,5}$/.test(value) ? Number(value) : refuse(`expected ${flag} to be a whole number, got ${value}`);
}

function refuse(sentence: string): never {
  process.stderr.write(`${sentence}\n${usage}\n`);
  process.exit(usageExitCode);
}
