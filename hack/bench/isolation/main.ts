import { Command } from 'commander';
import { runProgram } from '../../program/run-program.ts';
import { Recording, recordFlag } from '../record/record.ts';
import { spreadOf } from '../record/spread.ts';
import { type Table, textOf } from '../record/table.ts';
import { decideCases, emptyDecision, lastStep } from './decide.ts';
import { allocatedOf, type Cost, costOf, keptOf, type Operation, timeOf } from './operation.ts';
import { reconcileCases } from './reconcile.ts';

// Measures the CPU time and the allocations of one decision and of one reconciliation, each compared with an empty
// operation. Also measures whether a decision leaks memory.

/**
 * The limit for the bytes that one decision leaks. It is not 0, because garbage collection alone varies by some 50 kB
 * between measurements.
 */
const mostKeptBytes = 1;

const recording = new Recording('isolation');
const raw: { readonly what: string; readonly of: string; readonly cost: Cost }[] = [];
const missed: string[] = [];

const command = new Command('hack/bench/isolation/main.ts').addOption(recordFlag());

await runProgram(command, async ({ record }: { readonly record?: string }) => {
  const tables = [await decideTable(), await reconcileTable()];
  for (const table of tables) console.log(`${textOf(table)}\n`);
  console.log(`the last decision: ${lastStep()}`);
  await recording.write(record, tables, raw);
  if (missed.length > 0) throw new Error(`missed: ${missed.join('; ')}`);
});

async function measured(what: string, operation: Operation): Promise<Cost> {
  const cost = await costOf(operation);
  raw.push({ what, of: operation.name, cost });
  return cost;
}

async function decideTable(): Promise<Table> {
  const rows: (readonly string[])[] = [];
  for (const { operation, limitNanoseconds } of decideCases) {
    const cost = await measured('decide', operation);
    const kept = await keptOf(operation);
    const limit = limitNanoseconds === null ? '' : `${limitNanoseconds / 1000} µs`;
    if (limitNanoseconds !== null && !(spreadOf(cost.nanoseconds).median < limitNanoseconds)) {
      missed.push(`${operation.name}: ${timeOf(cost)} instead of less than ${limit}`);
    }
    if (!(kept < mostKeptBytes)) missed.push(`${operation.name}: ${kept.toFixed(0)} B of each decision are kept`);
    rows.push([operation.name, timeOf(cost), limit && `< ${limit}`, allocatedOf(cost), `${kept.toFixed(1)} B`]);
  }
  const empty = await measured('decide', emptyDecision);
  rows.push([emptyDecision.name, timeOf(empty), '', allocatedOf(empty), '']);
  return { name: 'decide', title: 'One decision', columns: ['', 'processor time', 'limit', 'allocated', 'kept'], rows };
}

async function reconcileTable(): Promise<Table> {
  const rows: (readonly string[])[] = [];
  for (const { operation, beside, calls } of await reconcileCases()) {
    const cost = await measured('reconcile', operation);
    const without = await measured('the same calls', beside);
    rows.push([operation.name, `${calls}`, timeOf(cost), allocatedOf(cost), timeOf(without), allocatedOf(without)]);
  }
  return {
    name: 'reconcile',
    title: 'One pass, from the cache to the last answer of the API server, beside the same calls alone',
    columns: ['', 'calls', 'processor time', 'allocated', 'the calls alone', 'allocated by them'],
    rows,
  };
}
