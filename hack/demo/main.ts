import { piece } from '../../src/cli/painted.ts';
import { type DemoOptions, parseDemoArguments } from './arguments.ts';
import { withDemoStage } from './demo-stage.ts';
import { interruption } from './interruption.ts';
import { outputTo } from './output.ts';
import { progressing } from './progress.ts';
import { clusterName, DemoCluster, newImage, oldImage } from './rollout.ts';
import { runProgram } from './run-program.ts';
import { Show } from './show.ts';
import { summaryLines } from './summary.ts';
import { jsonOf } from './summary-json.ts';

const namespace = 'demo';

await runProgram(parseDemoArguments(process.argv.slice(2)), run);

async function run(options: DemoOptions): Promise<void> {
  const output = outputTo(options.json ? process.stderr : process.stdout, process.env);
  const summary = await withDemoStage({ ...options, output, interruption: interruption() }, async (demo) => {
    const cluster = await progressing(
      output,
      `Creating MySQLCluster ${namespace}/${clusterName}, ${options.members} x ${oldImage}`,
      () => DemoCluster.create(demo, namespace, options),
    );
    const show = new Show(output);
    try {
      output.line([piece(`Changing its image to ${newImage}`)]);
      output.line([]);
      const done = await cluster.rollOut(show.take);
      show.end();
      for (const line of [[], ...summaryLines(done), []]) output.line(line);
      return done;
    } finally {
      show.end();
      await cluster.stop();
    }
  });
  if (options.json) process.stdout.write(`${JSON.stringify(jsonOf(summary, options), null, 2)}\n`);
}
