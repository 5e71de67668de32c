import { cpus, loadavg, release, totalmem } from 'node:os';
import { runProgram } from '../demo/run-program.ts';
import { measureEventRate } from './event-rate.ts';
import { measureIdle } from './idle.ts';
import { parseRuntimeBenchArguments, type RuntimeBenchOptions } from './settings.ts';
import { figuresOf, isMissed, tableOf } from './table.ts';

// What the runtime costs: a fleet listed, watched under many events, and watched with nothing to do. Of the bundle that
// `make build` leaves in dist/, and from source. Figures are of this machine, and of how busy it is.

await runProgram(parseRuntimeBenchArguments(process.argv.slice(2)), run);

async function run(options: RuntimeBenchOptions): Promise<void> {
  if (process.platform !== 'linux')
    throw new Error(`expected Linux, whose /proc says what a process uses, got ${process.platform}`);
  const say = (line: string): void => void (options.json ? process.stderr : process.stdout).write(`${line}\n`);
  const loadBefore = loadavg();
  say(`${options.events.perSecond} events a second for ${options.events.seconds} s`);
  const eventRate = await measureEventRate(options);
  const { idle, statusAllMilliseconds } = await measureIdle(options, say);
  const machine = {
    processor: cpus()[0]?.model ?? 'unknown',
    cores: cpus().length,
    memoryBytes: totalmem(),
    kernel: release(),
    node: process.version,
    loadBefore,
    loadAfter: loadavg(),
  };
  const figures = figuresOf(eventRate, idle, statusAllMilliseconds, options);
  const load = `load average ${loadBefore[0]?.toFixed(2)} before, ${machine.loadAfter[0]?.toFixed(2)} after`;
  say(`\n${machine.cores} cores (${machine.processor}), Node ${machine.node}, ${load}`);
  say(`${options.clusters} clusters, ${options.clusters * 3} pods, ${options.namespaces} namespaces\n`);
  say(tableOf(figures));
  if (options.json) {
    const raw = { machine, options, eventRate, idle, statusAllMilliseconds, figures };
    process.stdout.write(`${JSON.stringify(raw, null, 2)}\n`);
  }
  const missed = figures.filter(isMissed);
  if (missed.length > 0) throw new Error(`missed: ${missed.map(({ what }) => what).join(', ')}`);
}
