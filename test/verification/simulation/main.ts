import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { mistakes } from '../mistakes/catalogue.ts';
import { refuse, wholeNumber } from './arguments.ts';
import { drawNamed, everyThemeName, type Scenario } from './draw.ts';
import { faultTables } from './faults.ts';
import { playSeeds, seedsFrom } from './play-seeds.ts';
import { run } from './run.ts';
import { isFailure, withOnly } from './shrink.ts';
import { runsUntilFound } from './simulator.ts';
import { replayLine, storyOf } from './story.ts';
import { Tally } from './tally.ts';

// Plays rollouts of the whole controller in virtual time, each with its own seed, until there are enough. A failing one
// is shortened and reported. With --alone it plays N seeds of each theme alone, which a seed that mixes themes seldom
// reaches. With --faults it reports how often each fault has struck. With SEED it plays one scenario
// only, with REPLAY only those of its happenings.

const usage =
  'usage: test/verification/simulation/main.ts [--rollouts N] [--from SEED] [--jobs N|cores] [--faults]   or   test/verification/simulation/main.ts --alone N [--from SEED] [--jobs N|cores]   or   test/verification/simulation/main.ts --mistakes   or   SEED=[THEME:]S [REPLAY=I,J,…|-] test/verification/simulation/main.ts';
const mostRunsForMistake = 400;
const mostFailures = 10;
const progressMilliseconds = 30_000;
/** In so many rollouts every fault strikes, the rarest of them several times. */
const enoughForEveryFault = 1000;

const { rollouts: wanted, from, jobs, alone, mistakes: wantsMistakes, faults: wantsFaults } = readArguments();
const seed = process.env['SEED'] ?? '';
const failed = await (wantsMistakes ? findMistakes() : seed === '' ? playMany() : playOne(seed, replayed()));
process.exitCode = failed ? 1 : 0;

function replayed(): string {
  return process.env['REPLAY'] ?? '';
}

/** Prints how many runs it takes to detect each seeded mistake. */
async function findMistakes(): Promise<boolean> {
  let missed = 0;
  console.log('| mistake | runs | what the witness said first |\n| --- | --- | --- |');
  for (const [mistake, { simulation }] of Object.entries(mistakes)) {
    if (simulation === undefined) continue;
    const found = await runsUntilFound(mistake, mostRunsForMistake);
    const [finding] = found?.outcome.violations ?? [];
    missed += found === null ? 1 : 0;
    console.log(`| ${mistake} | ${found?.runs ?? 'not found'} | ${finding ? `${finding.law}: ${finding.text}` : ''} |`);
  }
  return missed > 0;
}

async function playMany(): Promise<boolean> {
  const tally = new Tally();
  const began = performance.now();
  let reported = began;
  let interrupted = false;
  // Whoever has waited long enough gets the figures of what has been played.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => (interrupted = true));
  await playSeeds({
    seeds: alone === null ? seedsFrom(from) : ofEachTheme(from, alone),
    jobs,
    isEnough: () => interrupted || (alone === null && tally.rollouts >= wanted) || tally.failures >= mostFailures,
    onPlayed: ({ outcome, failure }) => {
      tally.add(outcome);
      if (failure !== null) console.log(failure);
      if (performance.now() - reported < progressMilliseconds) return;
      reported = performance.now();
      console.log(`so far ${tally.closingLine}, ${((reported - began) / 60_000).toFixed(1)} minutes`);
    },
  });
  const seconds = (performance.now() - began) / 1000;
  const { user, system } = process.cpuUsage();
  const cpuMilliseconds = (user + system) / 1000 / Math.max(1, tally.rollouts);
  if (wantsFaults) console.log(faultTables(tally.strikes));
  console.log(tally.situationLines.join('\n'));
  const { races, stuck, disruptions, needless, longestWindowMilliseconds } = tally;
  console.log(
    `${disruptions} disruptions, ${needless} needless; ${stuck} rollouts that never ended; ${races} races, the longest window ${longestWindowMilliseconds.toFixed(0)} ms`,
  );
  console.log(
    `${tally.hoursPerSecond(seconds).toFixed(2)} simulated hours a second, ${cpuMilliseconds.toFixed(0)} ms of CPU for each rollout`,
  );
  console.log(tally.lossLine);
  console.log(tally.closingLine);
  const neverStruck = alone !== null || wanted < enoughForEveryFault ? [] : tally.unstruck;
  if (neverStruck.length > 0) console.log(`faults that never struck: ${neverStruck.join(', ')}`);
  return tally.failures > 0 || neverStruck.length > 0;
}

/** So many seeds of each theme alone. */
function* ofEachTheme(first: number, count: number): Generator<string, void, undefined> {
  for (let seed = first; seed < first + count; seed += 1) {
    for (const theme of everyThemeName) yield `${theme}:${seed}`;
  }
}

async function playOne(only: string, replay: string): Promise<boolean> {
  const drawn = named(only);
  const kept = replay === '' ? drawn.plan.map((_, index) => index) : placesIn(replay, drawn.plan.length);
  const scenario = withOnly(drawn, kept);
  const outcome = await run(scenario);
  const tally = new Tally();
  tally.add(outcome);
  console.log(`${replayLine(only, kept)}\n${storyOf(scenario, outcome)}\n${tally.closingLine}`);
  return isFailure(outcome);
}

function named(seed: string): Scenario {
  try {
    return drawNamed(seed);
  } catch (error) {
    return refuse(usage, error instanceof Error ? error.message : String(error));
  }
}

function placesIn(replay: string, count: number): readonly number[] {
  const places = replay === '-' ? [] : replay.split(',').map(Number);
  const wrong = places.find((place) => !Number.isInteger(place) || place < 0 || place >= count);
  if (wrong !== undefined) {
    return refuse(
      usage,
      `expected REPLAY to be numbers from 0 to ${count - 1} with commas between them, got ${replay}`,
    );
  }
  return places;
}

interface Arguments {
  readonly rollouts: number;
  readonly from: number;
  /** Threads. */
  readonly jobs: number;
  /** How many seeds of each theme to play alone; `null` for seeds that draw their themes. */
  readonly alone: number | null;
  readonly mistakes: boolean;
  readonly faults: boolean;
}

function readArguments(): Arguments {
  try {
    const options = {
      rollouts: { type: 'string', default: '1000' },
      from: { type: 'string', default: '1' },
      jobs: { type: 'string', default: '1' },
      alone: { type: 'string' },
      mistakes: { type: 'boolean', default: false },
      faults: { type: 'boolean', default: false },
    } as const;
    const { values } = parseArgs({ options });
    return {
      rollouts: wholeNumber(usage, '--rollouts', values.rollouts),
      from: wholeNumber(usage, '--from', values.from),
      jobs: values.jobs === 'cores' ? availableParallelism() : wholeNumber(usage, '--jobs', values.jobs),
      alone: values.alone === undefined ? null : wholeNumber(usage, '--alone', values.alone),
      mistakes: values.mistakes,
      faults: values.faults,
    };
  } catch (error) {
    return refuse(usage, error instanceof Error ? error.message : String(error));
  }
}
