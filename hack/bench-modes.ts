import { loadavg } from 'node:os';
import { piece } from '../src/cli/painted.ts';
import { Outage } from './bench-modes/outage.ts';
import { type Result, resultOf } from './bench-modes/result.ts';
import { modesJson, modesLines, type Row } from './bench-modes/table.ts';
import { type Setting, settings, type Way } from './bench-modes/way.ts';
import { type BenchOptions, parseModesArguments } from './demo/arguments.ts';
import { type DemoStage, withDemoStage } from './demo/demo-stage.ts';
import { type Interruption, interruption } from './demo/interruption.ts';
import { type Output, outputTo } from './demo/output.ts';
import { progressing } from './demo/progress.ts';
import { clusterName, DemoCluster } from './demo/rollout.ts';
import { runProgram } from './demo/run-program.ts';

/** Nothing is at OnDelete that doesn't ask for it. */
const flags = ['--default-strategy=Partition'];

await runProgram(parseModesArguments(process.argv.slice(2)), run);

async function run(options: BenchOptions): Promise<void> {
  const output = outputTo(options.json ? process.stderr : process.stdout, process.env);
  const rows: Row[] = [];
  const interrupted = interruption();
  const loadBefore = load();
  for (const setting of settings) rows.push(...(await measureSetting(setting, options, output, interrupted)));
  for (const line of [[], ...modesLines(rows), []]) output.line(line);
  const loadAverage = { before: loadBefore, after: load() };
  const words = `load average ${loadAverage.before.toFixed(2)} before, ${loadAverage.after.toFixed(2)} after`;
  output.line([piece(`  ${words}, over one minute`, 'dim')]);
  if (options.json) process.stdout.write(`${JSON.stringify({ loadAverage, ...modesJson(rows) }, null, 2)}\n`);
}

function load(): number {
  return loadavg()[0] ?? 0;
}

/** The ways take turns, so that a machine that slows down does so for all of them. */
async function measureSetting(
  { name, partitionDriver, ways }: Setting,
  options: BenchOptions,
  output: Output,
  interrupted: Interruption,
): Promise<readonly Row[]> {
  const [{ slug: native }] = ways;
  return withDemoStage({ ...options, output, interruption: interrupted, partitionDriver, flags }, async (demo) => {
    const results = new Map<string, Result[]>(ways.map(({ slug }) => [slug, []]));
    const measure = async (way: Way, run: number): Promise<void> => {
      results.get(way.slug)?.push(await rollOut(demo, way, run, options));
    };
    for (let run = 1; run <= options.runs; run++) {
      for (const way of ways.filter(({ waits }) => waits !== true)) {
        await progressing(output, `${way.name}, ${run} of ${options.runs}`, () => measure(way, run));
      }
    }
    for (const way of ways.filter(({ waits }) => waits === true)) {
      const all = Array.from({ length: options.runs }, (_, index) => index + 1);
      await progressing(output, `${way.name}, ${options.runs} side by side`, async () => {
        await Promise.all(all.map((run) => measure(way, run)));
      });
    }
    return ways.map(
      (way): Row => ({
        setting: name,
        way: way.name,
        results: results.get(way.slug) ?? [],
        native: results.get(native) ?? [],
      }),
    );
  });
}

/** A cluster of its own: one that gets revision after revision within minutes is held, and rightly so. */
async function rollOut(demo: DemoStage, { slug, wishes }: Way, run: number, options: BenchOptions): Promise<Result> {
  const namespace = `bench-${slug}-${run}`;
  const { moco, world } = demo.stage;
  const cluster = await DemoCluster.create(demo, namespace, options, wishes);
  try {
    const outage = new Outage(moco, namespace, clusterName, () => world.monotonic());
    const measure = await cluster.measure();
    return resultOf(measure, outage.end());
  } finally {
    await cluster.stop();
  }
}
