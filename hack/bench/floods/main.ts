import { Command } from 'commander';
import { runProgram, wholeNumber } from '../../program/run-program.ts';
import { Recording, recordFlag } from '../record/record.ts';
import { type Table, textOf } from '../record/table.ts';
import { type Flood, floods } from './floods.ts';
import { Victims } from './victims.ts';

// Measures how long other work waits while a client floods the one thread that everything shares: a GET of /healthz,
// and the pass over a cluster in another namespace. Each flood is compared with a quiet period of the same length.

/** The longest delay that a tenant may cause, both for a probe and for a pass over a cluster in another namespace. */
const mostDelayedMilliseconds = 1000;
const settleMilliseconds = 1000;

const command = new Command('hack/bench/floods/main.ts')
  .option('--seconds <number>', 'how long each flood lasts', wholeNumber(1, 600), 5)
  .addOption(recordFlag());

interface Options {
  readonly seconds: number;
  readonly record?: string;
}

/** The longest waits, in milliseconds. */
interface Waits {
  readonly probe: number;
  readonly pass: number;
}

interface Measured {
  readonly flood: string;
  readonly times: number;
  readonly quiet: Waits;
  readonly flooded: Waits;
}

await runProgram(command, async ({ seconds, record }: Options) => {
  const recording = new Recording('floods');
  const victims = await Victims.start();
  const measured: Measured[] = [];
  try {
    for (const flood of floods) measured.push(await measure(flood, victims, seconds * 1000));
  } finally {
    await victims.end();
  }
  const table = tableOf(measured);
  console.log(textOf(table));
  await recording.write(record, [table], measured);
  const missed = measured.filter(isMissed).map(({ flood }) => flood);
  if (missed.length > 0) throw new Error(`missed: ${missed.join('; ')}`);
});

async function measure({ name, start }: Flood, victims: Victims, milliseconds: number): Promise<Measured> {
  const quiet = await victims.longestWaits(milliseconds);
  const flood = await start(victims);
  const flooded = await victims.longestWaits(milliseconds);
  const times = await flood.stop();
  // Requests of the flood may still be waiting for their answers.
  await victims.longestWaits(settleMilliseconds);
  if (times === 0) throw new Error(`expected a flood of ${name}, but no request arrived`);
  return { flood: name, times, quiet, flooded };
}

/** Whether the flood delayed other work for too long. NaN (not measured) counts as too long. */
function isMissed({ quiet, flooded }: Measured): boolean {
  const later = [flooded.probe - quiet.probe, flooded.pass - quiet.pass];
  return !later.every((milliseconds) => milliseconds < mostDelayedMilliseconds);
}

function shown(milliseconds: number): string {
  return `${milliseconds.toFixed(0)} ms`;
}

function tableOf(measured: readonly Measured[]): Table {
  return {
    name: 'waits',
    title: 'The longest wait for /healthz, and for a pass of another namespace',
    columns: ['', 'times', '/healthz before', 'during', 'a pass before', 'during', 'limit of the difference'],
    rows: measured.map(({ flood, times, quiet, flooded }) => [
      flood,
      `${times}`,
      shown(quiet.probe),
      shown(flooded.probe),
      shown(quiet.pass),
      shown(flooded.pass),
      `< ${mostDelayedMilliseconds} ms`,
    ]),
  };
}
