import { basename } from 'node:path';
import { Command } from 'commander';
import { ascendingNumbers, runProgram, wholeNumber } from '../../program/run-program.ts';
import { Recording, recordFlag } from '../record/record.ts';
import { textOf } from '../record/table.ts';
import { type GrownFleet, growthTable } from './growth.ts';
import { measureIdle } from './idle.ts';
import { findingsOf } from './table.ts';
import { bundle, variants } from './variants.ts';

// Measures what an idle fleet costs: memory, processor time and start-up of the bundle in dist/, as the image runs it
// and with other options. With several sizes it measures how these figures grow with the fleet.

interface Options {
  /** The sizes of the fleet to measure, in clusters, in ascending order. */
  readonly clusters: readonly number[];
  readonly namespaces: number;
  readonly idleSeconds: number;
  readonly record?: string;
}

const command = new Command('hack/bench/runtime/main.ts')
  .option(
    '--clusters <numbers>',
    'numbers of clusters (of three members); several numbers show how each figure grows',
    ascendingNumbers(Number.MAX_SAFE_INTEGER),
    [1000],
  )
  .option(
    '--namespaces <number>',
    'number of namespaces that contain the clusters',
    wholeNumber(1, Number.MAX_SAFE_INTEGER),
    10,
  )
  .option('--idle-seconds <number>', 'how long to watch an idle program', wholeNumber(1, Number.MAX_SAFE_INTEGER), 60)
  .addOption(recordFlag());

await runProgram(command, run);

async function run(options: Options): Promise<void> {
  if (process.platform !== 'linux')
    throw new Error(`expected Linux, whose /proc says what a process uses, got ${process.platform}`);
  const say = (line: string): void => console.log(line);
  const recording = new Recording(basename(options.record ?? 'runtime.json', '.json'));
  const compared = options.clusters.length === 1 ? variants : [bundle];
  const fleets: GrownFleet[] = [];
  for (const clusters of options.clusters) {
    fleets.push({ clusters, ...(await measureIdle({ ...options, clusters }, compared, say)) });
  }
  const largest = fleets.at(-1);
  if (largest === undefined) return;
  const { tables: ofLargest, missed } = findingsOf(largest, largest.clusters);
  const tables = fleets.length === 1 ? ofLargest : [growthTable(fleets), ...ofLargest];
  for (const table of tables) say(`\n${textOf(table)}`);
  await recording.write(options.record, tables, { options, fleets });
  if (missed.length > 0) throw new Error(`missed: ${missed.join('; ')}`);
}
