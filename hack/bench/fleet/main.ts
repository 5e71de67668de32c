import { basename } from 'node:path';
import { interruption } from '../../program/interruption.ts';
import { runProgram } from '../../program/run-program.ts';
import { isMissed } from '../record/figure.ts';
import { Recording } from '../record/record.ts';
import { textOf } from '../record/table.ts';
import { Clusters } from './clusters.ts';
import { figuresOf } from './figures.ts';
import { Installation } from './installation.ts';
import { type MeasuredFleet, measureFleet, type Place } from './measured-fleet.ts';
import { type FleetBenchOptions, fleetCommand, mostClustersForRounds } from './settings.ts';
import { tablesOf } from './tables.ts';

// Rolls out whole fleets at once on a real control plane: with the bundle, run as in the image, and for comparison with
// a plain loop.

const command = fleetCommand();

await runProgram(command, run);

async function run(options: FleetBenchOptions): Promise<void> {
  if (process.platform !== 'linux') {
    throw new Error(`Expected Linux, whose /proc says what a process uses, got ${process.platform}`);
  }
  if (options.mocoController !== undefined && options.moco !== 'real') {
    command.error('error: --moco-controller is for --moco real');
  }
  const began = performance.now();
  const progress = (what: string): void =>
    console.log(`${((performance.now() - began) / 1000).toFixed(0).padStart(5)} s  ${what}`);
  const recording = new Recording(basename(options.record ?? 'fleet.json', '.json'));
  const { race } = interruption();
  progress('starting the control plane and the stand-ins');
  const installation = await Installation.open(options);
  const fleets: MeasuredFleet[] = [];
  /** Writes the results after each size, because the next one takes long and may never finish. */
  const write = (fleet: MeasuredFleet): Promise<void> => {
    fleets.push(fleet);
    const figures = figuresOf(fleets);
    return recording.write(options.record, tablesOf(fleets, figures), { fleets, figures });
  };
  const clusters = new Clusters(installation.access, options.policies);
  try {
    await race(measureAll({ installation, clusters }, options, write, progress));
  } finally {
    progress('cleaning up');
    await clusters.stop();
    await installation.close();
  }
  const figures = figuresOf(fleets);
  for (const table of tablesOf(fleets, figures)) console.log(`\n${textOf(table)}`);
  const missed = figures.filter(isMissed);
  if (missed.length > 0) throw new Error(`missed: ${missed.map(({ what }) => what).join(', ')}`);
}

async function measureAll(
  place: Place,
  { clusters: counts, rounds, rivals }: FleetBenchOptions,
  onMeasured: (fleet: MeasuredFleet) => Promise<void>,
  progress: (what: string) => void,
): Promise<void> {
  await place.clusters.start();
  for (const count of counts) {
    const plan = { clusters: count, rounds: count <= mostClustersForRounds ? rounds : 1, rivals };
    await onMeasured(await measureFleet(place, plan, progress));
  }
}
