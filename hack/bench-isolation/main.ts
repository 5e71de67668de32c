import { parseArgs } from 'node:util';
import { Recording } from '../bench-record/record.ts';
import { spreadOf } from '../bench-record/spread.ts';
import { type Table, textOf } from '../bench-record/table.ts';
import { type Parsed } from '../demo/arguments.ts';
import { runProgram } from '../demo/run-program.ts';
import { decideCases, emptyDecision, lastStep } from './decide.ts';
import { allocatedOf, type Cost, costOf, keptOf, type Operation, timeOf } from './operation.ts';
import { reconcileCases } from './reconcile.ts';

// How much of a core's time one decision and one whole pass of the reconciler take, and what they allocate, each beside
// one that does nothing; and whether anything of a decision is kept.

/** What garbage collection itself leaves differs by some 50 kB from one time to the next. */
const mostKeptBytes = 1;

const usage = `Usage: hack/node.sh hack/bench-isolation/main.ts [flags]

  --record FILE  write the numbers into that file, as docs/performance has them
`;

const recording = new Recording('isolation');
const raw: { readonly what: string; readonly of: string; readonly cost: Cost }[] = [];
const missed: string[] = [];

await runProgram(parse(process.argv.slice(2)), async ({ record }) => {
  const tables = [await decideTable(), await reconcileTable()];
  for (const table of tables) console.log(`${textOf(table)}\n`);
  console.log(`the last decision: ${lastStep()}`);
  await recording.write(record, tables, raw);
  if (missed.length > 0) throw new Error(`missed: ${missed.join('; ')}`);
});

function parse(argv: readonly string[]): Parsed<{ readonly record: string | undefined }> {
  try {
    const options = { record: { type: 'string' }, help: { type: 'boolean' } } as const;
    const { values } = parseArgs({ args: [...argv], options });
    return values.help ? { kind: 'help', text: usage } : { kind: 'options', options: { record: values.record } };
  } catch (error) {
    return { kind: 'usage-error', message: error instanceof Error ? error.message : String(error) };
  }
}

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
  return {
    name: 'decide',
    title: 'One decision',
    columns: ['', 'processor time', 'limit', 'allocated', 'kept'],
    rows,
  };
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
