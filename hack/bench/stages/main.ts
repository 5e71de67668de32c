import { allocatedOf, type Cost, costOf, keptOf, timeOf } from '../isolation/operation.ts';
import { runProgram } from '../program/run-program.ts';
import { Recording } from '../record/record.ts';
import { parseRecordFlag } from '../record/record-flag.ts';
import { spreadOf } from '../record/spread.ts';
import { type Table, textOf } from '../record/table.ts';
import { changes, clusters, keptOfStages } from './changes.ts';

// What a change costs where clusters are in stages: to count them anew, to find out whom it concerns, and to ask for
// each of these what it waits for. There is no API server to ask.

const limitNanoseconds = 1_000_000;
/** What garbage collection itself leaves differs by some 50 kB from one time to the next. */
const mostKeptBytes = 1000;

const recording = new Recording('stages');
const raw: { readonly of: string; readonly cost: Cost }[] = [];
const missed: string[] = [];

await runProgram(parseRecordFlag('hack/bench/stages/main.ts', process.argv.slice(2)), async ({ record }) => {
  const table = await stagesTable();
  console.log(textOf(table));
  await recording.write(record, [table], raw);
  if (missed.length > 0) throw new Error(`missed: ${missed.join('; ')}`);
});

async function stagesTable(): Promise<Table> {
  const rows: (readonly string[])[] = [];
  for (const operation of changes) {
    const cost = await costOf(operation);
    const kept = await keptOf(operation);
    raw.push({ of: operation.name, cost });
    if (!(spreadOf(cost.nanoseconds).median < limitNanoseconds)) {
      missed.push(`${operation.name}: ${timeOf(cost)} instead of less than 1 ms`);
    }
    if (!(kept < mostKeptBytes)) missed.push(`${operation.name}: ${kept.toFixed(0)} B of each change are kept`);
    rows.push([operation.name, timeOf(cost), '< 1 ms', allocatedOf(cost), `${kept.toFixed(1)} B`]);
  }
  rows.push([`the stages of all ${clusters} clusters`, '', '', '', `${(keptOfStages() / 1000).toFixed(0)} kB`]);
  return {
    name: 'changes',
    title: `A change in a fleet of ${clusters} clusters in three stages`,
    columns: ['', 'processor time', 'limit', 'allocated', 'kept'],
    rows,
  };
}
