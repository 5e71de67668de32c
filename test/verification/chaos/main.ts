import { parseArgs } from 'node:util';
import { drawActs } from './acts.ts';
import { isFailure, playChaos } from './chaos.ts';

// Rolls out clusters on real control planes while processes of the controller are killed, frozen and cut off, and checks
// the API server's audit log against the invariants. Exits with 1 on a violation or an incomplete rollout. With SEED it
// draws the same plan again.

const usage = 'usage: [SEED=S] test/verification/chaos/main.ts [--rollouts N] [--side-by-side N] [--minutes N]';
const failureExitCode = 1;
const usageExitCode = 2;

const { rollouts, sideBySide, minutes } = readArguments();
const seed = process.env['SEED'] || String(Date.now() % 1_000_000);
try {
  process.exitCode = await play();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = failureExitCode;
}

async function play(): Promise<number> {
  console.log(`SEED=${seed}, at most ${minutes} minutes`);
  const beganAt = performance.now();
  const milliseconds = minutes * 60_000;
  const onLine = (line: string): void => console.log(line);
  const tally = await playChaos({ seed, acts: drawActs(seed, rollouts), sideBySide, milliseconds, onLine });
  const { rollouts: played, steps, violations, defects, ...counts } = tally;
  for (const defect of defects) console.log(defect);
  console.log(
    Object.entries({ seconds: Math.round((performance.now() - beganAt) / 1000), ...counts })
      .map((count) => count.join(' '))
      .join(', '),
  );
  const isShort = played < rollouts;
  if (isShort) console.log(`expected ${rollouts} rollouts within ${minutes} minutes, got ${played}`);
  console.log(`${played} rollouts, ${steps} steps, ${violations} violations`);
  return isFailure(tally) || isShort ? failureExitCode : 0;
}

function readArguments(): Readonly<Record<'rollouts' | 'sideBySide' | 'minutes', number>> {
  try {
    const { values } = parseArgs({
      options: {
        rollouts: { type: 'string', default: '100' },
        'side-by-side': { type: 'string', default: '10' },
        minutes: { type: 'string', default: '45' },
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
