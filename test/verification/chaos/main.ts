import { parseArgs } from 'node:util';
import { mistakes as catalogue } from '../mistakes/catalogue.ts';
import { substitutionOf } from '../mistakes/substitution.ts';
import { playChaos } from './chaos.ts';
import { playMistakes } from './mistake.ts';
import { type Act, drawActs } from './plan.ts';

// Rolls out clusters on real control planes while processes of the controller are killed, frozen, cut off and given
// wrong answers, and checks the API server's audit log against the invariants. Exits with 1 on a violation or an
// incomplete rollout. With SEED it draws the same plan again, with REPLAY it plays only some of its clusters.

const usage =
  'usage: [SEED=S [REPLAY=chaos-I,chaos-J,…]] test/verification/chaos/main.ts [--rollouts N] [--side-by-side N] [--minutes N] [--mistakes all|NAME,…]';
const failureExitCode = 1;
const usageExitCode = 2;

const { rollouts, sideBySide, minutes, mistakes } = readArguments();
const seed = process.env['SEED'] || String(Date.now() % 1_000_000);
const acts = replayed(drawActs(seed, rollouts));
try {
  process.exitCode = await (mistakes.length > 0 ? findMistakes() : play());
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = failureExitCode;
}

async function findMistakes(): Promise<number> {
  const missed = await playMistakes(mistakes, seed, rollouts, sideBySide);
  if (missed.length > 0) print(`not found: ${missed.join(', ')}`);
  return missed.length > 0 ? failureExitCode : 0;
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
  /** A seeded mistake of the catalogue; none: the unchanged controller. */
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
  if (names === '') return [];
  if (names === 'all') return Object.keys(catalogue).filter((name) => catalogue[name]?.chaos === true);
  const all = Object.keys(catalogue).filter((name) => substitutionOf(name) !== null);
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
