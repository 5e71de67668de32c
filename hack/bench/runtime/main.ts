import { runProgram } from '../program/run-program.ts';
import { Recording } from '../record/record.ts';
import { textOf } from '../record/table.ts';
import { measureEventRate } from './event-rate.ts';
import { measureIdle } from './idle.ts';
import { parseRuntimeBenchArguments, type RuntimeBenchOptions } from './settings.ts';
import { findingsOf } from './table.ts';

// What the runtime costs: a fleet listed, watched under many events, and watched with nothing to do. Of the bundle that
// `make build` leaves in dist/, as the image runs it, and from source. Figures are of this machine, and of how busy it is.

await runProgram(parseRuntimeBenchArguments(process.argv.slice(2)), run);

async function run(options: RuntimeBenchOptions): Promise<void> {
  if (process.platform !== 'linux')
    throw new Error(`expected Linux, whose /proc says what a process uses, got ${process.platform}`);
  const say = (line: string): void => console.log(line);
  const recording = new Recording('runtime');
  say(`${options.events.perSecond} events a second for ${options.events.seconds} s`);
  const eventRate = await measureEventRate(options);
  const atRest = await measureIdle(options, say);
  const { tables, missed } = findingsOf(eventRate, atRest, options);
  for (const table of tables) say(`\n${textOf(table)}`);
  await recording.write(options.record, tables, { options, eventRate, ...atRest });
  if (missed.length > 0) throw new Error(`missed: ${missed.join('; ')}`);
}
