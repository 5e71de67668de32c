import { type BenchOptions, parseBenchArguments } from './demo/arguments.ts';
import { benchJson, benchLines } from './demo/bench-table.ts';
import { withDemoStage } from './demo/demo-stage.ts';
import { interruption } from './demo/interruption.ts';
import { outputTo } from './demo/output.ts';
import { progressing } from './demo/progress.ts';
import { DemoCluster } from './demo/rollout.ts';
import { runProgram } from './demo/run-program.ts';
import type { Summary } from './demo/summary.ts';

await runProgram(parseBenchArguments(process.argv.slice(2)), run);

async function run(options: BenchOptions): Promise<void> {
  const output = outputTo(options.json ? process.stderr : process.stdout, process.env);
  const summaries = await withDemoStage({ ...options, output, interruption: interruption() }, async (demo) => {
    const done: Summary[] = [];
    for (let run = 1; run <= options.runs; run++) {
      // A cluster of its own: one that gets revision after revision within minutes is held, and rightly so.
      const rollOut = async (): Promise<Summary> => {
        const cluster = await DemoCluster.create(demo, `bench-${run}`, options);
        try {
          return await cluster.rollOut(() => undefined);
        } finally {
          await cluster.stop();
        }
      };
      done.push(await progressing(output, `Rollout ${run} of ${options.runs}`, rollOut));
    }
    for (const line of [[], ...benchLines(done), []]) output.line(line);
    return done;
  });
  if (options.json) process.stdout.write(`${JSON.stringify(benchJson(summaries, options), null, 2)}\n`);
}
