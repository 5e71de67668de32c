import { parseArgs } from 'node:util';
import { refuse, wholeNumber } from '../arguments.ts';
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
    if (wanted.length === 0) return refuse(usage, `expected --way to be one of "${all.join('", "')}", got ${way}`);
    return {
      seed,
      clusters: wholeNumber(usage, '--clusters', clusters),
      nodes: wholeNumber(usage, '--nodes', nodes),
      hours: wholeNumber(usage, '--hours', hours),
      rounds: wholeNumber(usage, '--rounds', rounds),
      ways: wanted,
    };
  } catch (error) {
    return refuse(usage, error instanceof Error ? error.message : String(error));
  }
}
