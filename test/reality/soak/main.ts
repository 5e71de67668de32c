import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { interruption } from '../../../hack/program/interruption.ts';
import { roughly } from '../../../hack/program/progress.ts';
import { runProgram, wholeNumber } from '../../../hack/program/run-program.ts';
import { Chance } from '../../verification/simulation/chance.ts';
import { runWhereItCan } from '../requirements.ts';
import { withSurroundings } from '../scenarios/surroundings.ts';
import { Killer } from './killer.ts';
import { SoakedCluster, type SoakedRollout } from './soaked-cluster.ts';

interface SoakOptions {
  readonly rollouts: number;
  readonly sideBySide: number;
  /** Where everything that was seen is kept. */
  readonly output?: string;
}

const root = fileURLToPath(new URL('../../..', import.meta.url));
const membersOfACluster = 3;
const most = { rollouts: 10_000, sideBySide: 20 };

const command = new Command('test/reality/soak/main.ts')
  .description(
    'Rolls out clusters of three real members again and again, under load, while processes are killed at random: mysqld, agents, moco-controller, moco-rollout. After each rollout every acknowledged row is looked for on every member. SEED=S kills the same.',
  )
  .option('--rollouts <number>', 'of all clusters together', wholeNumber(1, most.rollouts), 50)
  .option('--side-by-side <number>', 'how many clusters', wholeNumber(1, most.sideBySide), 4)
  .option('--output <directory>', 'where all that was seen is kept (default: in .cache/reality-runs)');

await runProgram(command, (options: SoakOptions) =>
  runWhereItCan(options.sideBySide * membersOfACluster, () => run(options)),
);

async function run({ rollouts, sideBySide, output }: SoakOptions): Promise<void> {
  const seed = process.env['SEED'] || String(Date.now() % 1_000_000);
  say(`SEED=${seed}, ${rollouts} rollouts, ${sideBySide} clusters side by side`);
  const folder = output ?? join(root, '.cache/reality-runs', `soak-${seed}`);
  const interrupted = interruption();
  const all: SoakedRollout[] = [];
  const failures: string[] = [];
  await withSurroundings(say, interrupted, async (surroundings) => {
    const names = Array.from({ length: sideBySide }, (_, index) => `soak-${index + 1}`);
    const clusters = await Promise.all(
      names.map((name) => SoakedCluster.create(surroundings, name, join(folder, name))),
    );
    const killer = new Killer(
      surroundings.bed,
      () => clusters.flatMap(({ containers }) => containers),
      new Chance(seed),
      say,
    );
    killer.start();
    let left = rollouts;
    const roll = async (cluster: SoakedCluster): Promise<void> => {
      while (left > 0 && !interrupted.signal.aborted) {
        left -= 1;
        const rollout = await cluster.rollOut();
        all.push(rollout);
        say(lineOf(rollout));
      }
    };
    const ended = await Promise.allSettled(clusters.map(roll));
    await killer.stop();
    for (const one of ended) if (one.status === 'rejected') failures.push(String(one.reason));
    for (const cluster of clusters) failures.push(...(await cluster.end()));
    const repairs = clusters.reduce((sum, one) => sum + one.repairs, 0);
    say(`everything that was seen: ${relative(process.cwd(), folder)}`);
    say(`killed: ${killer.counts.join(', ')}; ${repairs} errant members repaired`);
  });
  const failed = all.filter(({ complaints }) => complaints.length > 0);
  for (const { namespace, number, complaints } of failed)
    say(`${namespace}, rollout ${number}: ${complaints.join('; ')}`);
  for (const failure of failures) say(failure);
  say(`${all.length - failed.length} passed, ${failed.length + failures.length} failed`);
  if (failed.length + failures.length > 0) throw new Error(`Expected every rollout to pass; SEED=${seed}.`);
}

function lineOf({
  namespace,
  number,
  seconds,
  longestGapMilliseconds,
  acknowledged,
  complaints,
}: SoakedRollout): string {
  const verdict = complaints.length === 0 ? 'no row lost' : complaints.join('; ');
  const gap = `longest write gap ${roughly(longestGapMilliseconds)}`;
  return `${namespace}, rollout ${number}: ${roughly(seconds * 1000)}, ${gap}, ${acknowledged} rows, ${verdict}`;
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
