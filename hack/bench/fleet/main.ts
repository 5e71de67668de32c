import { interruption } from '../program/interruption.ts';
import { sayTo } from '../program/progress.ts';
import { runProgram } from '../program/run-program.ts';
import { Recording } from '../record/record.ts';
import { textOf } from '../record/table.ts';
import { Clusters } from './clusters.ts';
import { type Figure, figuresOf, isMissed } from './figures.ts';
import { Installation } from './installation.ts';
import { type MeasuredFleet, measureFleet } from './measured-fleet.ts';
import { type FleetBenchOptions, mostClustersForRounds, parseFleetBenchArguments } from './settings.ts';
import { tablesOf } from './tables.ts';

// Fleets that roll out at once on a real control plane, by the bundle as the image runs it and by a plain loop for
// comparison; how soon the controller reacts while it watches them; how long it takes to start.

await runProgram(parseFleetBenchArguments(process.argv.slice(2)), run);

async function run(options: FleetBenchOptions): Promise<void> {
  if (process.platform !== 'linux') {
    throw new Error(`Expected Linux, whose /proc says what a process uses, got ${process.platform}`);
  }
  const say = sayTo(options.json);
  const began = performance.now();
  const progress = (what: string): void =>
    say(`${((performance.now() - began) / 1000).toFixed(0).padStart(5)} s  ${what}`);
  const recording = new Recording('fleet');
  const { race } = interruption();
  progress('starting the control plane and the stand-ins');
  const installation = await Installation.open();
  const fleets: MeasuredFleet[] = [];
  /** After each number of clusters: the next one takes long, and may never finish. */
  const write = (fleet: MeasuredFleet): Promise<void> => {
    fleets.push(fleet);
    const figures = figuresOf(fleets);
    return recording.write(options.record ?? undefined, tablesOf(fleets, figures), rawOf(options, fleets, figures));
  };
  const watching = new AbortController();
  try {
    await race(measureAll(installation, options, write, watching.signal, progress));
  } finally {
    progress('cleaning up');
    watching.abort();
    await installation.close();
  }
  const figures = figuresOf(fleets);
  const tables = tablesOf(fleets, figures);
  say('');
  for (const table of tables) say(`${textOf(table)}\n`);
  if (options.json) {
    const record = recording.record(tables, rawOf(options, fleets, figures));
    process.stdout.write(`${JSON.stringify(record, null, 2)}\n`);
  }
  const missed = figures.filter(isMissed);
  if (missed.length > 0) throw new Error(`missed: ${missed.map(({ what }) => what).join(', ')}`);
}

function rawOf(options: FleetBenchOptions, fleets: readonly MeasuredFleet[], figures: readonly Figure[]): object {
  return { options: { ...options, record: undefined }, fleets, figures };
}

async function measureAll(
  installation: Installation,
  { clusters: counts, rounds, reactions, policies, controllerFlags }: FleetBenchOptions,
  onMeasured: (fleet: MeasuredFleet) => Promise<void>,
  signal: AbortSignal,
  progress: (what: string) => void,
): Promise<void> {
  const clusters = new Clusters(installation.client, installation.world, policies);
  await clusters.watch(signal);
  const [least] = counts;
  const most = counts.at(-1);
  const forLimits = counts.findLast((count) => count <= mostClustersForRounds);
  for (const count of counts) {
    const plan = {
      clusters: count,
      rounds: count <= mostClustersForRounds ? rounds : 1,
      reactions: count === least || count === most ? reactions : 0,
      withDefaultLimits: count === forLimits,
      withColdStart: count === most,
      controllerFlags,
    };
    await onMeasured(await measureFleet({ installation, clusters }, plan, progress));
  }
}
