import { basename } from 'node:path';
import { runProgram } from '../program/run-program.ts';
import { Recording } from '../record/record.ts';
import { textOf } from '../record/table.ts';
import { measureIdle } from './idle.ts';
import { parseRuntimeBenchArguments, type RuntimeBenchOptions } from './settings.ts';
import { findingsOf } from './table.ts';

// What a fleet costs with which nothing happens: memory, processor time and starts, of the bundle that `make build` leaves
// in dist/, as the image runs it and in other ways.

await runProgram(parseRuntimeBenchArguments(process.argv.slice(2)), run);

async function run(options: RuntimeBenchOptions): Promise<void> {
  if (process.platform !== 'linux')
    throw new Error(`expected Linux, whose /proc says what a process uses, got ${process.platform}`);
  const say = (line: string): void => console.log(line);
  const recording = new Recording(basename(options.record ?? 'runtime.json', '.json'));
  const atRest = await measureIdle(options, say);
  const { tables, missed } = findingsOf(atRest, options);
  for (const table of tables) say(`\n${textOf(table)}`);
  await recording.write(options.record, tables, { options, ...atRest });
  if (missed.length > 0) throw new Error(`missed: ${missed.join('; ')}`);
}
