import { parseArgs } from 'node:util';
import { mistakes as mistakesByName } from '../../test/simulation/mistakes.ts';
import { playChaos } from './chaos.ts';
import { playMistakes } from './mistake.ts';
import { type Act, drawActs } from './plan.ts';

// Rolls out clusters on real control planes while processes of the controller are killed, frozen, cut off and lied to,
// and holds what the API server says was done against the invariants. Ends with 1 on a violation or a rollout that is lost.
// With SEED it draws the same plan again, with REPLAY it plays some clusters of it alone.

const usage =
  'usage: [SEED=S [REPLAY=chaos-I,chaos-J,…]] hack/chaos/main.ts [--rollouts N] [--side-by-side N] [--minutes N] [--mistakes all|NAME,…]';
const failureExitCode = 1;
const usageExitCode = 2;

const { rollouts, sideBySide, minutes, mistakes } = readArguments();
const seed = process.env['SEED'] || String(Date.now() % 1_000_000);
const acts = replayed(drawActs(seed, rollouts));
try {
  if (mistakes.length > 0) await playMistakes(mistakes, seed, rollouts, sideBySide);
  else process.exitCode = await play();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = failureExitCode;
}

async function play(): Promise<number> {
  const clusters = acts.reduce((sum, { plans }) => sum + plans.length, 0);
  print(`SEED=${seed}, ${clusters} clusters, at most ${minutes} minutes`);
  const beganAt = performance.now();
  const milliseconds = minutes * 60_000;
  const tally = await playChaos({
    seed,
    acts,
    disturbs: true,
    restartsMoco: true,
    sideBySide,
    milliseconds,
    onLine: print,
  });
  const isShort = process.env['REPLAY'] === undefined && tally.rollouts < rollouts;
  if (isShort) print(`expected ${rollouts} rollouts within ${minutes} minutes, got ${tally.rollouts}`);
  print(`${((performance.now() - beganAt) / 1000).toFixed(0)} s`);
  for (const line of tally.lines) print(line);
  return tally.isFailure || isShort ? failureExitCode : 0;
}

/** Of the whole plan, since a cluster's part in it follows from those before it. */
function replayed(all: readonly Act[]): readonly Act[] {
  const { REPLAY } = process.env;
  if (REPLAY === undefined) return all;
  const names = new Set(REPLAY.split(','));
  const kept = all.map((act) => ({ ...act, plans: act.plans.filter(({ name }) => names.has(name)) }));
  if (kept.every(({ plans }) => plans.length === 0))
    refuse(`expected REPLAY to name clusters of the plan, got ${REPLAY}`);
  return kept;
}

function print(line: string): void {
  console.log(line);
}

interface Arguments {
  readonly rollouts: number;
  readonly sideBySide: number;
  readonly minutes: number;
  /** Of controllers that are wrong on purpose; none: the controller as it is. */
  readonly mistakes: readonly string[];
}

function readArguments(): Arguments {
  try {
    const { values } = parseArgs({
      options: {
        rollouts: { type: 'string', default: '100' },
        'side-by-side': { type: 'string', default: '10' },
        minutes: { type: 'string', default: '45' },
        mistakes: { type: 'string', default: '' },
      },
    });
    return {
      rollouts: whole('--rollouts', values.rollouts),
      sideBySide: whole('--side-by-side', values['side-by-side']),
      minutes: whole('--minutes', values.minutes),
      mistakes: known(values.mistakes),
    };
  } catch (error) {
    return refuse(error instanceof Error ? error.message : String(error));
  }
}

function known(names: string): readonly string[] {
  const all = Object.keys(mistakesByName);
  if (names === '' || names === 'all') return names === '' ? [] : all;
  const unknown = names.split(',').filter((name) => !all.includes(name));
  return unknown.length === 0
    ? names.split(',')
    : refuse(`expected some of ${all.join(', ')}; got ${unknown.join(', ')}`);
}

function whole(flag: string, value: string): number {
  return /^[1-9]\d{0,5}$/.test(value) ? Number(value) : refuse(`expected ${flag} to be a whole number, got ${value}`);
}

function refuse(sentence: string): never {
  process.stderr.write(`${sentence}\n${usage}\n`);
  process.exit(usageExitCode);
}
