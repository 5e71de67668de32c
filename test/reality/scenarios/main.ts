import { basename, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Recording } from '../../../hack/bench/record/record.ts';
import { textOf } from '../../../hack/bench/record/table.ts';
import { interruption } from '../../../hack/program/interruption.ts';
import { runProgram } from '../../../hack/program/run-program.ts';
import { runWhereItCan } from '../requirements.ts';
import { type RealityOptions, realityCommand, scenarios } from './arguments.ts';
import type { Played } from './play.ts';
import { Playing } from './playing.ts';
import { scenarioTable, shortTable, wayTable } from './results.ts';
import { withSurroundings } from './surroundings.ts';
import { turnsOf } from './turns.ts';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const mostMembers = 5;

await runProgram(realityCommand(), (options: RealityOptions) =>
  runWhereItCan(options.sideBySide * mostMembers, () => run(options)),
);

async function run(options: RealityOptions): Promise<void> {
  const { only = scenarios, runs, output, record, sideBySide, nodes } = options;
  const recording = new Recording(basename(record ?? 'reality.json', '.json'));
  const folder = output ?? join(root, '.cache/reality-runs', new Date().toISOString().replaceAll(':', '-'));
  const interrupted = interruption();
  const all: Played[] = [];
  const failures: string[] = [];
  await withSurroundings(
    say,
    interrupted,
    async (surroundings) => {
      const playing = new Playing({
        surroundings,
        folder,
        say,
        signal: interrupted.signal,
        onPlayed: async (played) => {
          all.push(played);
          await recording.write(record, tablesOf(all), all);
        },
        onFailure: (sentence) => failures.push(sentence),
      });
      await playing.inTurn(turnsOf(only, runs), sideBySide);
      interrupted.signal.throwIfAborted();
    },
    { nodes },
  );
  for (const table of tablesOf(all)) say(`\n${textOf(table)}`);
  const failed = all.filter(({ complaints }) => complaints.length > 0);
  say('');
  for (const { title, complaints } of failed) for (const complaint of complaints) say(`  ${title}: ${complaint}`);
  for (const failure of failures) say(`  ${failure}`);
  say(`  everything that was seen: ${relative(process.cwd(), folder)}`);
  const count = failed.length + failures.length;
  say(`${all.length - failed.length} passed, ${count} failed`);
  if (count > 0) throw new Error('Expected every scenario to pass.');
}

function tablesOf(all: readonly Played[]) {
  return [shortTable(all), wayTable(all), scenarioTable(all)].filter(({ rows }) => rows.length > 0);
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
