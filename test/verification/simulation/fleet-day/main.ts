import { parseArgs } from 'node:util';
import { type Day, playDay, type Way, ways } from './day.ts';
import { tableOf, wrongWith } from './report.ts';

// Plays a day of a fleet whose nodes are upgraded, in every way that the program can be set up, and prints what it costs.

const usage =
  'usage: test/verification/simulation/fleet-day/main.ts [--seed S] [--clusters N] [--nodes N] [--hours N] [--rounds N] [--way WAY]';
const progressMilliseconds = 30_000;

const options = readArguments();
const days: Day[] = [];
const began = performance.now();
let reported = began;
for (const way of options.ways) {
  const onHour = (hour: number): void => {
    if (performance.now() - reported < progressMilliseconds) return;
    reported = performance.now();
    const minutes = ((reported - began) / 60_000).toFixed(1);
    console.log(`${way}: ${hour} of ${options.hours} hours, ${minutes} minutes`);
  };
  days.push(await playDay(way, options, onHour));
}
console.log(tableOf(days));
const wrong = days.flatMap(wrongWith);
for (const sentence of wrong) console.log(sentence);
process.exitCode = wrong.length > 0 ? 1 : 0;

function readArguments() {
  try {
    const { values } = parseArgs({
      options: {
        seed: { type: 'string', default: '1' },
        clusters: { type: 'string', default: '50' },
        nodes: { type: 'string', default: '30' },
        hours: { type: 'string', default: '24' },
        rounds: { type: 'string', default: '2' },
        way: { type: 'string' },
      },
    });
    const { seed, clusters, nodes, hours, rounds, way } = values;
    const all = Object.keys(ways) as Way[];
    const wanted = way === undefined ? all : all.filter((one) => one === way);
    if (wanted.length === 0) return refuse(`expected --way to be one of "${all.join('", "')}", got ${way}`);
    return {
      seed,
      clusters: whole('--clusters', clusters),
      nodes: whole('--nodes', nodes),
      hours: whole('--hours', hours),
      rounds: whole('--rounds', rounds),
      ways: wanted,
    };
  } catch (error) {
    return refuse(error instanceof Error ? error.message : String(error));
  }
}

function whole(flag: string, value: string): number {
  return /^[1-9]\d{0,4}$/.test(value) ? Number(value) : refuse(`expected ${flag} to be a whole number, got ${value}`);
}

function refuse(sentence: string): never {
  console.error(`${sentence}\n${usage}`);
  process.exit(2);
}
